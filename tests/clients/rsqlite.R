# R's RSQLite: see check.py.
library(RSQLite)

json <- function(column) {
  text <- if (is.character(column)) {
    escaped <- gsub("\n", "\\n", gsub('"', '\\"', gsub("\\", "\\\\", column, fixed = TRUE), fixed = TRUE), fixed = TRUE)
    paste0('"', escaped, '"')
  } else {
    sprintf("%.17g", as.numeric(column))
  }
  ifelse(is.na(column) | text %in% c("Inf", "-Inf"), "null", text)
}

args <- commandArgs(trailingOnly = TRUE)
db <- dbConnect(SQLite(), args[1], loadable.extensions = TRUE)
loaded <- dbGetQuery(db, "SELECT load_extension(?)", params = list(args[2]))
for (statement in readLines(args[3], encoding = "UTF-8")) dbExecute(db, statement)
for (query in readLines(args[4], encoding = "UTF-8")) {
  rows <- dbGetQuery(db, query)
  writeLines(paste0("[", do.call(paste, c(lapply(unname(rows), json), sep = ",")), "]"), useBytes = TRUE)
}
dbDisconnect(db)
