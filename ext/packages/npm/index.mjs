import evalci from "./index.cjs";

export const { getLoadablePath, load } = evalci;
export default evalci;
