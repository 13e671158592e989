import { getLoadablePath, load } from "evalci";
const path: string = getLoadablePath();
load({ loadExtension: (file: string) => file === path });
