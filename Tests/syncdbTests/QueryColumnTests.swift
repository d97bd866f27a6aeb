import Foundation
import Sync
import Testing

@Suite("Columns of query")
struct QueryColumnTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox.withUsers() }

    private func query(_ arguments: String...) throws -> Program.Run {
        try sandbox.run(["query"] + arguments + ["--database", "app.sqlite"])
    }

    @Test("query prints to-one relationships as keys, in JSON too")
    func toOneRelationshipsAreKeys() throws {
        let table = try query("User", "--where", "id IN {1, 7}").output.split(separator: "\n")
        #expect(table[0].hasSuffix("  company"))
        #expect(table[1].hasSuffix("        1"))
        #expect(!table[2].hasSuffix("1"))
        let json = try query("User", "--where", "id IN {1, 7}", "--json").output
        let rows = try JSONDecoder().decode([JSONValue].self, from: Data(json.utf8))
        #expect(rows.map { $0["company"] } == [1, .null])
    }

    @Test("--columns selects attributes, relationships, paths and counts, in that order")
    func columnsAreSelected() throws {
        let run = try query(
            "Note", "--columns", "text, user.firstName,user.company.name,user,id", "--limit", "1", "--format", "csv")
        #expect(
            run.output == "text,user.firstName,user.company.name,user,id\nSend the contract,Ada,Lovelace & Sons,1,11\n")
        let counts = try query("User", "--columns", "id,notes.@count,tags.@count", "--limit", "2", "--format", "tsv")
        #expect(counts.output == "id\tnotes.@count\ttags.@count\n1\t2\t2\n2\t0\t1\n")
    }

    @Test("query prints dates with the stored milliseconds")
    func datesHaveMilliseconds() throws {
        let sandbox = try Sandbox()
        let dates = (0..<1000).map { "2024-02-29T10:00:00." + String(1000 + $0).dropFirst() + "Z" }
        let records = dates.enumerated().map { "{\"id\": \($0), \"at\": \"\($1)\"}" }
        let file = try sandbox.file("events.json", "[\(records.joined(separator: ","))]")
        #expect(try sandbox.run(["import", file, "--entity", "Event", "--database", "d.sqlite"]).status == 0)
        let run = try sandbox.run([
            "query", "Event", "--columns", "at", "--order-by", "id", "--format", "csv", "--limit", "1000", "--database",
            "d.sqlite",
        ])
        let expected = dates.map { $0.replacingOccurrences(of: ".000Z", with: "Z") }
        #expect(run.output == "at\n" + expected.joined(separator: "\n") + "\n")
    }

    @Test("--order-by takes paths, and --offset skips rows")
    func pathsAndOffsets() throws {
        for order in ["company.city,-age", "company.city, -age"] {
            let run = try query(
                "User", "--columns", "id", "--order-by", order, "--format", "csv", "--offset", "1", "--limit", "3")
            #expect(run.output == "id\n6\n1\n2\n")
        }
        #expect(try query("User", "--columns", "id", "--offset", "7", "--format", "csv").output == "id\n8\n")
        #expect(try query("User", "--columns", "id", "--offset", "99", "--format", "csv").output == "id\n")
    }

    @Test("IS NULL and IS NOT NULL are conditions")
    func isNull() throws {
        #expect(try sandbox.count("User", where: "company IS NULL") == "1")
        #expect(try sandbox.count("User", where: "company.name IS NOT NULL") == "7")
        #expect(try sandbox.count("User", where: "NOT (company is null) AND age > 40") == "3")
    }

    @Test(
        "A wrong name is an error that suggests the right one, and prints no row",
        arguments: [
            (["User", "--columns", "id,fristName"], 1, "did you mean 'firstName'?"),
            (["User", "--columns", "id,compny.name"], 1, "did you mean 'company'?"),
            (["User", "--columns", "notes"], 1, "notes.@count"), (["User", "--columns", "id,"], 2, "--columns"),
            (["User", "--order-by", "age desc"], 1, "hint: for descending order write --order-by=-age\n"),
            (["User", "--order-by", "id,company.name ASC"], 1, "write --order-by=company.name\n"),
            (["User", "--order-by", "agee"], 1, "did you mean 'age'?"), (["Usr"], 1, "did you mean 'User'?"),
            (["User", "--where", "agee > 1"], 1, "did you mean 'age'?"), (["User", "--offset=-1"], 2, "--offset"),
        ])
    func wrongNamesHaveSuggestions(arguments: [String], status: Int32, message: String) throws {
        let run = try sandbox.run(["query"] + arguments + ["--database", "app.sqlite"])
        #expect(run.status == status)
        #expect(run.output == "")
        #expect(run.errors.contains(message), "\(run.errors)")
    }
}
