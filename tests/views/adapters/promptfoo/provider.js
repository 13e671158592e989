// A model of which the answers are known: wrong on beta, down on boom.
module.exports = class {
  id() {
    return 'other-provider';
  }

  async callApi(prompt, { vars }) {
    if (vars.q === 'boom') return { error: 'the model is down' };
    return { output: vars.q === 'beta' ? 'wrong' : prompt };
  }
};
