// A model with known answers: wrong on beta, and an error on boom.
module.exports = class {
  id() {
    return 'other-provider';
  }

  async callApi(prompt, { vars }) {
    if (vars.q === 'boom') return { error: 'the model is down' };
    return { output: vars.q === 'beta' ? 'wrong' : prompt };
  }
};
