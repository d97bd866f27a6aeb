import Foundation
import Testing

@Suite("Imports of JSON that is not one list")
struct ShapeImportTests {
    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox()
        try sandbox.write(
            """
            {"entities": {
              "User": {"attributes": {"id": "integer", "name": "string"}, "relationships": {"company": {"entity": "Company", "inverse": "users"}}},
              "Company": {"attributes": {"id": "integer", "name": "string"}, "relationships": {"users": {"entity": "User", "many": true}}}}}
            """, to: "model.json")
        return sandbox
    }

    @Test("--keyed-by reads records that are members, whole and in chunks, and export writes them back")
    func membersAreRecords() throws {
        let sandbox = try sandbox()
        let records = (1...300).map { "\"\($0)\": {\"name\": \"n\($0)\"}" }.joined(separator: ",")
        try sandbox.write("{\(records)}", to: "users.json")
        let first = try sandbox.syncdb(
            "import", "users.json", "--entity", "User", "--keyed-by", "id", "--model", "model.json", "--database",
            "a.sqlite")
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.errors == "")
        let pieces = try sandbox.syncdb(
            "import", "users.json", "--entity", "User", "--keyed", "--database", "a.sqlite", "--whole-up-to", "1",
            "--piece-size", "100")
        #expect(pieces.output.contains("300"), "\(pieces.output)\(pieces.errors)")
        let export = try sandbox.syncdb("export", "User", "--keyed-by", "id", "--database", "a.sqlite", "--limit", "2")
        #expect(export.output == "{\n  \"1\": {\"name\":\"n1\"},\n  \"2\": {\"name\":\"n2\"}\n}\n")
        let all = try sandbox.shell(
            "$SYNCDB export User --keyed --database a.sqlite | $SYNCDB diff - --keyed --entity User --database a.sqlite"
        )
        #expect(all.status == 0, "\(all.errors)")
        #expect(all.output.split(separator: "\n").count <= 3, "\(all.output)")
    }

    @Test("--entity for each list imports several entities")
    func entitiesOfLists() throws {
        let sandbox = try sandbox()
        let json = #"{"users": [{"id": 1, "company_id": 7}], "data": {"companies": [{"id": 7, "name": "Acme"}]}}"#
        let run = try sandbox.syncdb(
            "import", "-", "--entity", "users=User", "--entity", "data.companies=Company", "--model", "model.json",
            "--database", "a.sqlite", input: json)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("links: 1 added"))
        let missing = try sandbox.syncdb(
            "diff", "-", "--entity", "users=User", "--entity", "companies=Company", "--database", "a.sqlite",
            input: json)
        #expect(missing.errors.contains("no key 'companies'"), "\(missing.errors)")
        for arguments in [
            ["--entity", "users=User", "--entity", "Company"], ["--entity", "User", "--entity", "Company"],
            ["--entity", "users=User", "--entity", "users=Company"], ["--entity", "users=User", "--where", "id == 1"],
            ["--entity", "users=User", "--form", "graphql"], ["--entity", "User", "--keyed", "--ndjson"],
        ] {
            let refused = try sandbox.run(["diff", "-", "--database", "a.sqlite"] + arguments, input: json)
            #expect(refused.status == 2, "\(arguments): \(refused.status) \(refused.errors)")
        }
        for command in [["diff", "-", "--database", "a.sqlite"], ["schema", "infer", "-"]] {
            for entity in ["users=", ""] {
                let refused = try sandbox.run(command + ["--entity", entity], input: json)
                #expect(refused.status == 2 && refused.errors.contains("--entity '\(entity)' has no entity name"))
            }
        }
    }

    @Test("--form reads JSON:API and GraphQL, and reports their errors")
    func documentsAreRead() throws {
        let sandbox = try sandbox()
        let document = """
            {"data": [{"type": "users", "id": "1", "attributes": {"name": "Ann"},
              "relationships": {"company": {"data": {"type": "companies", "id": "7"}}}}],
             "included": [{"type": "companies", "id": "7", "attributes": {"name": "Acme"}}], "links": {"next": "/2"}}
            """
        let run = try sandbox.syncdb(
            "import", "-", "--entity", "User", "--form", "json-api", "--model", "model.json", "--database", "a.sqlite",
            "--json", input: document)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("\"nextPage\" : \"/2\""))
        let answer = #"{"data": {"users": {"nodes": [{"id": 1, "name": "Bea", "company": {"id": 7}}]}}}"#
        let diff = try sandbox.syncdb(
            "diff", "-", "--entity", "User", "--form", "graphql", "--database", "a.sqlite", input: answer)
        #expect(diff.output.contains("\"Ann\" → \"Bea\""), "\(diff.output)\(diff.errors)")
        let doctor = try sandbox.syncdb(
            "doctor", "-", "--entity", "User", "--form", "graphql", "--database", "a.sqlite", input: answer)
        #expect(doctor.status == 0, "\(doctor.output)")
        let errors = try sandbox.syncdb(
            "import", "-", "--entity", "User", "--form", "json-api", "--database", "a.sqlite",
            input: #"{"errors": [{"title": "Gone"}]}"#)
        #expect(errors.status != 0)
        #expect(errors.errors.contains("the payload contains an error of the service: Gone"), "\(errors.errors)")
        let inferred = try sandbox.syncdb(
            "import", "-", "--entity", "User", "--form", "json-api", "--database", "b.sqlite", input: document)
        #expect(inferred.status == 0, "\(inferred.errors)")
        let users = try sandbox.syncdb("query", "User", "--database", "b.sqlite", "--format", "ndjson")
        #expect(users.output == #"{"id": "1", "name": "Ann", "company": "7"}"# + "\n", "\(users.output)")
    }
}

extension Sandbox {
    fileprivate func write(_ text: String, to file: String) throws {
        try Data(text.utf8).write(to: folder.appendingPathComponent(file))
    }
}
