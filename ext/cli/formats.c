/*
** evalci formats: what ext/import reads.
*/
#include "cli.h"

int cli_run_formats(cli *c) {
  const char *name, *reads, *recognised_by, *becomes;
  int columns = cli_columns(stdout);
  (void)c;
  for (int i = 0; import_formats(i, &name, &reads, &recognised_by, &becomes); i++) {
    printf("%-16s ", name);
    cli_put_wrapped(stdout, reads, 17, columns);
    printf("%-16s ", "  known by");
    cli_put_wrapped(stdout, recognised_by, 17, columns);
    printf("%-16s ", "  becomes");
    cli_put_wrapped(stdout, becomes, 17, columns);
  }
  return CLI_OK;
}
