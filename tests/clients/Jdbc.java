/* SQLite's JDBC driver: see check.py. */
import java.nio.file.*;
import java.sql.*;
import java.util.*;

class Jdbc {
  static String json(Object value) {
    if (!(value instanceof String)) return String.valueOf(value);
    return '"' + ((String) value).replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
  }

  public static void main(String[] args) throws Exception {
    String url = "jdbc:sqlite:" + args[0] + "?enable_load_extension=true";
    try (Connection db = DriverManager.getConnection(url); Statement statement = db.createStatement()) {
      statement.execute("SELECT load_extension('" + args[1] + "')");
      for (String line : Files.readAllLines(Path.of(args[2]))) statement.executeUpdate(line);
      for (String line : Files.readAllLines(Path.of(args[3]))) {
        ResultSet rows = statement.executeQuery(line);
        while (rows.next()) {
          List<String> row = new ArrayList<>();
          for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) row.add(json(rows.getObject(i)));
          System.out.println("[" + String.join(",", row) + "]");
        }
      }
    }
  }
}
