import { getLoadablePath, load } from "sqlite-evalci";
const path: string = getLoadablePath();
load({ loadExtension: (file: string) => file === path });
