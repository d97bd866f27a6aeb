import Foundation
import Sync
import Testing

@Suite("query and count")
struct QueryTests {
    private func sandbox() throws -> Sandbox { try .withUsers() }

    @Test("query prints a table with a column for each attribute")
    func tableHasAColumnPerAttribute() throws {
        let run = try sandbox().syncdb("query", "Company", "--database", "app.sqlite")
        #expect(
            run.output == """
                id  name             city
                 1  Lovelace & Sons  London
                 2  Nordlys AS       Oslo
                 3  Atelier Curie    Paris

                """)
    }

    @Test("--where, --order-by and --limit select and sort rows")
    func rowsAreSelected() throws {
        let run = try sandbox().syncdb(
            "query", "User", "--database", "app.sqlite", "--where", "company.city == 'Oslo'", "--order-by", "age",
            "--limit", "2", "--json")
        #expect(run.status == 0, "\(run.errors)")
        let rows = try JSONDecoder().decode([Row].self, from: Data(run.output.utf8))
        #expect(rows.map(\.firstName) == ["Hugo", "Chandra"])
        #expect(rows.first?.joinedAt == "2023-11-05T06:55:00Z")
    }

    private struct Row: Decodable {
        let firstName: String
        let joinedAt: String
    }

    @Test("A query without rows prints an empty array in JSON, and a header in a table")
    func queryWithoutRows() throws {
        let sandbox = try sandbox()
        let json = try sandbox.syncdb("query", "Tag", "--database", "app.sqlite", "--where", "id > 9", "--json")
        #expect(json.output == "[]\n")
        let table = try sandbox.syncdb("query", "Tag", "--database", "app.sqlite", "--where", "id > 9")
        #expect(table.output == "id  name\n")
    }

    @Test("count prints the number of matching rows")
    func matchingRowsAreCounted() throws {
        let sandbox = try sandbox()
        #expect(try sandbox.count("Note") == "7")
        #expect(try sandbox.count("User", where: "ANY tags.name == 'admin'") == "2")
    }

    @Test(
        "An unknown entity, an unknown attribute or an invalid condition is an error of query and count",
        arguments: [["Robot"], ["User", "--where", "wings > 2"], ["User", "--where", "age >"]],
        ["query", "count"])
    func unknownNamesAreErrors(arguments: [String], command: String) throws {
        let run = try sandbox().run([command] + arguments + ["--database", "app.sqlite"])
        #expect(run.status == 1)
        #expect(run.output == "")
        #expect(run.errors.hasPrefix("error: "))
    }

    @Test("query, count and schema show leave the database and its folder unchanged")
    func readingChangesNothing() throws {
        let sandbox = try sandbox()
        let before = try sandbox.databaseBytes()
        _ = try sandbox.syncdb("query", "User", "--database", "app.sqlite")
        _ = try sandbox.count("User")
        _ = try sandbox.syncdb("schema", "show", "--database", "app.sqlite")
        #expect(try sandbox.databaseBytes() == before)
    }
}
