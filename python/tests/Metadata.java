import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** What a program with PostgreSQL's JDBC driver does, DBeaver for one: it connects, reads the catalog, asks and writes. */
class Metadata {
    static List<String> column(ResultSet rows, String name) throws SQLException {
        List<String> found = new ArrayList<>();
        while (rows.next()) found.add(rows.getString(name));
        return found;
    }

    static void same(Object found, Object expected) {
        if (!expected.equals(found)) throw new AssertionError("expected " + expected + ", found " + found);
    }

    public static void main(String[] arguments) throws Exception {
        Properties login = new Properties();
        login.setProperty("user", "me");
        login.setProperty("password", arguments[1]);
        try (Connection connection = DriverManager.getConnection("jdbc:postgresql://" + arguments[0], login)) {
            DatabaseMetaData catalog = connection.getMetaData();
            same(catalog.getDatabaseProductName(), "PostgreSQL");
            try (Statement statement = connection.createStatement()) {
                statement.execute("CREATE TABLE t (a BIGINT NOT NULL, b VARCHAR, c DECIMAL(9, 2), d DOUBLE, e TIMESTAMP, l BIGINT[])");
                statement.execute("CREATE VIEW v AS SELECT a FROM t");
            }
            same(column(catalog.getTables(null, "main", "%", new String[] {"TABLE"}), "TABLE_NAME"), List.of("t"));
            same(column(catalog.getTables(null, "main", "%", new String[] {"VIEW"}), "TABLE_NAME"), List.of("v"));
            same(column(catalog.getColumns(null, "main", "t", "%"), "COLUMN_NAME"), List.of("a", "b", "c", "d", "e", "l"));
            same(column(catalog.getColumns(null, "main", "t", "%"), "TYPE_NAME"), List.of("int8", "text", "numeric", "float8", "timestamp", "_int8"));
            same(column(catalog.getSchemas(), "TABLE_SCHEM").contains("main"), true);
            same(column(catalog.getPrimaryKeys(null, "main", "t"), "COLUMN_NAME"), List.of());
            same(column(catalog.getIndexInfo(null, "main", "t", false, true), "INDEX_NAME"), List.of());
            same(column(catalog.getImportedKeys(null, "main", "t"), "FKCOLUMN_NAME"), List.of());
            same(column(catalog.getTypeInfo(), "TYPE_NAME").contains("int8"), true);
            column(catalog.getCatalogs(), "TABLE_CAT");
            column(catalog.getTableTypes(), "TABLE_TYPE");
            column(catalog.getProcedures(null, null, "%"), "PROCEDURE_NAME");
            column(catalog.getFunctions(null, null, "%"), "FUNCTION_NAME");
            column(catalog.getTablePrivileges(null, "main", "t"), "PRIVILEGE");
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO t VALUES (?, ?, ?, ?, ?, NULL)")) {
                for (int row = 0; row < 10; row++) {
                    insert.setLong(1, row);
                    insert.setString(2, "it's " + row);
                    insert.setBigDecimal(3, new BigDecimal("12.50"));
                    insert.setDouble(4, row == 3 ? Double.NaN : row / 8.0);
                    insert.setTimestamp(5, java.sql.Timestamp.valueOf("2026-01-31 12:30:00.5"));
                    same(insert.executeUpdate(), 1);
                }
            }
            try (PreparedStatement query = connection.prepareStatement("SELECT a, b, c, d, e, [a, NULL] AS l FROM t WHERE a >= ? ORDER BY a")) {
                // Often enough for the driver to prepare it at the server, with values in binary.
                for (int time = 0; time < 8; time++) {
                    query.setLong(1, 3);
                    ResultSet rows = query.executeQuery();
                    rows.next();
                    same(rows.getLong("a"), 3L);
                    same(rows.getString("b"), "it's 3");
                    same(rows.getBigDecimal("c"), new BigDecimal("12.50"));
                    same(Double.isNaN(rows.getDouble("d")), true);
                    same(rows.getTimestamp("e").toString(), "2026-01-31 12:30:00.5");
                    same(((Long[]) rows.getArray("l").getArray())[0], 3L);
                    int count = 1;
                    while (rows.next()) count++;
                    same(count, 7);
                }
            }
            // Rows in parts, as DBeaver fetches them.
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.setFetchSize(200);
                ResultSet rows = statement.executeQuery("SELECT value FROM generate_series(1, 5000)");
                long sum = 0;
                while (rows.next()) sum += rows.getLong(1);
                same(sum, 12502500L);
            }
            connection.commit();
            connection.setAutoCommit(true);
            try (Statement statement = connection.createStatement()) {
                statement.executeQuery("SELECT nothing FROM t");
                throw new AssertionError("an unknown column is no error");
            } catch (SQLException error) {
                same(error.getSQLState(), "42703");
            }
        }
        System.out.println("all is well");
    }
}
