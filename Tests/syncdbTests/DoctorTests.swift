import Foundation
import Sync
import SyncTools
import Testing

@Suite("doctor")
struct DoctorTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private func examine(_ payload: String, _ more: String...) throws -> Program.Run {
        try sandbox.run(["doctor", "-", "--entity", "User", "--model", Sandbox.model] + more, input: payload)
    }

    private func findings(_ payload: String) throws -> [SyncDiagnostic] {
        struct Form: Decodable {
            let findings: [SyncDiagnostic]
            let losesData: Bool
        }
        let run = try examine(payload, "--json")
        let form = try JSONDecoder().decode(Form.self, from: Data(run.output.utf8))
        #expect(run.status == (form.losesData ? 1 : 0))
        return form.findings
    }

    static let losses: [(String, SyncDiagnostic.Kind, String, String, Int)] = [
        (
            #"[{"id": 1, "notes": [{"id": 2}, {"id": 3, "txt": "a"}, {"id": 4, "txt": "b"}]}]"#, .unmappedKey,
            "[0].notes[1].txt", "did you mean 'text'", 2
        ),
        (#"[{"id": 1, "contact": {"fax": 1}}]"#, .unmappedKey, "[0].contact.fax", "add an attribute", 1),
        (#"[{"id": 1}, {"id": 2, "age": "old"}]"#, .typeMismatch, "[1].age", "change the attribute's type", 1),
        (
            #"[{"id": 1}, {"first_name": "A"}]"#, .missingPrimaryKey, "[1]",
            "add the key to the record at [1]; other records of User have one", 1
        ),
        (#"[{"first_name": "A"}]"#, .missingPrimaryKey, "[0]", "choose another primary key", 1),
        (#"[{"id": 1, "company": [1, 2]}]"#, .invalidRelationshipValue, "[0].company", "many", 1),
        (#"[{"id": 1, "firstName": "A", "first_name": "B"}]"#, .duplicateKeys, "[0].first_name", "remoteKey", 1),
    ]

    @Test("doctor reports lost data with its first path, and exits with 1", arguments: losses)
    func lossHasPath(payload: String, kind: SyncDiagnostic.Kind, path: String, suggestion: String, count: Int)
        throws
    {
        let finding = try #require(try findings(payload).first { $0.kind == kind })
        #expect(finding.path == path)
        #expect(finding.suggestion?.contains(suggestion) ?? false, "\(finding)")
        #expect(finding.count == count)
        #expect(try findings(payload).filter { $0.kind.losesData }.count == 1)
    }

    @Test("A column or table that another program removed is reported, and an import says so")
    func missingColumns() throws {
        let file = try sandbox.file(
            "users.json", #"[{"id": 1, "name": "a", "age": 1, "company": {"id": 2, "name": "b"}}]"#)
        let arguments = ["import", file, "--entity", "User", "--database", "app.sqlite"]
        #expect(try sandbox.run(arguments).status == 0)
        #expect(try sandbox.run(["doctor", "-d", "app.sqlite"]).status == 0)
        _ = try sandbox.query("ALTER TABLE User DROP COLUMN age")
        let first = try sandbox.run(["doctor", "-d", "app.sqlite"])
        #expect(first.status == 1)
        #expect(first.output.contains("the table User lacks the column age"), "\(first.output)")
        let run = try sandbox.run(arguments)
        #expect(run.status == 1)
        #expect(run.errors.contains("the database lacks a table or column that the model requires"), "\(run.errors)")
        #expect(run.errors.contains("no such column: age"), "\(run.errors)")
        _ = try sandbox.query("ALTER TABLE User ADD COLUMN age INTEGER; DROP TABLE sync_pending")
        #expect(
            try sandbox.run(["doctor", "-d", "app.sqlite"]).output.contains("the table sync_pending is missing"))
    }

    @Test("Notes of doctor do not change the exit code")
    func notesLoseNothing() throws {
        let found = try findings(#"{"id": "7", "company_id": 9, "tag_ids": ["4"]}"#)
        #expect(found.allSatisfy { !$0.kind.losesData })
        let keys = found.filter { $0.kind == .convertedKeyType }
        #expect(keys.map(\.path) == ["[0].id", "[0].tag_ids[0]"])
        let waiting = found.filter { $0.kind == .pendingReference }
        #expect(waiting.map(\.path) == ["[0].company_id", "[0].tag_ids[0]"])
        let unseen = found.filter { $0.kind == .unusedAttribute }.map(\.path)
        #expect(unseen.contains("entities.User.attributes.email"))
        #expect(!unseen.contains("entities.User.attributes.id"))
    }

    @Test("doctor finds no loss in the sample, and prints findings by kind")
    func findingsAreGrouped() throws {
        let sound = try sandbox.syncdb("doctor", Sandbox.day1, "--entity", "User", "--model", Sandbox.model)
        #expect(sound.status == 0, "\(sound.output)\(sound.errors)")
        let run = try examine(#"[{"id": 1, "fist_name": "A"}]"#)
        #expect(run.status == 1)
        #expect(run.errors == "")
        #expect(
            run.output.hasPrefix(
                """
                Unmapped keys
                  [0].fist_name: User has no attribute or relationship for the key 'fist_name'
                      did you mean 'firstName'? If so, set its remoteKey to 'fist_name'

                """))
        #expect(run.output.contains("\n1 error, "))
        #expect(try sandbox.files == [])
    }

    @Test("doctor reads records below a key path, and NDJSON")
    func layoutsAreRead() throws {
        let below = try examine(#"{"data": [{"id": 1, "x": 1}]}"#, "--key", "data")
        #expect(below.output.contains("[0].x: "))
        let lines = try examine("{\"id\": 1}\n{\"id\": 2, \"x\": 1}\n", "--ndjson")
        #expect(lines.output.contains("[1].x: "))
    }

    @Test("doctor reads several entities, and reports inconsistent records")
    func severalEntities() throws {
        let payload = """
            {"users": [{"id": 1, "firstName": "A", "company_id": 7}, {"id": 1, "firstName": "B"}],
             "companies": [{"id": 7, "nam": "x"}]}
            """
        let run = try sandbox.syncdb(
            "doctor", "-", "--entity", "users=User", "--entity", "companies=Company", "--model", Sandbox.model,
            input: payload)
        #expect(run.status == 1)
        #expect(
            run.output.contains(
                #"users[1]: differs from users[0], which has the same key: 'firstName' is "B" here and "A" there"#),
            "\(run.output)")
        #expect(run.output.contains("companies[0].nam: "), "\(run.output)")
        let imported = try sandbox.syncdb(
            "import", "-", "--entity", "users=User", "--entity", "companies=Company", "--model", Sandbox.model, "-d",
            "app.sqlite", input: payload)
        #expect(
            imported.output.contains("3 records, 2 rows; 1 duplicate with different values\n"), "\(imported.output)")
        let strict = try sandbox.syncdb(
            "import", "-", "--entity", "users=User", "--entity", "companies=Company", "--strict", "-d", "app.sqlite",
            input: payload)
        #expect(strict.status == 1)
        #expect(strict.errors.contains("users[1]"), "\(strict.errors)")
    }

    @Test("doctor --parent names the owner that is a part of the key")
    func parentIsAKeyPart() throws {
        let model = Sandbox.fixtures.appendingPathComponent("Cookbook/GitHub/model.json").path
        let issues = Sandbox.fixtures.appendingPathComponent("Cookbook/GitHub/issues.json").path
        let alone = try sandbox.syncdb("doctor", issues, "--entity", "Issue", "--model", model)
        #expect(alone.status == 1)
        #expect(alone.output.contains("(--parent Repository:id)"), "\(alone.output)")
        let children = try sandbox.syncdb(
            "doctor", issues, "--entity", "Issue", "--model", model, "--parent", "Repository:a/b")
        #expect(children.status == 0, "\(children.output)\(children.errors)")
        #expect(children.output == "no problems found\n")
        let wrong = try sandbox.syncdb("doctor", issues, "--entity", "Issue", "--model", model, "--parent", "Repo:a/b")
        #expect(wrong.errors.contains("unknown entity 'Repo'"), "\(wrong.errors)")
        let many = try sandbox.syncdb(
            "doctor", issues, "--entity", "a=Issue", "--entity", "b=User", "--model", model, "--parent", "Repository:a")
        #expect(many.errors.contains("--parent cannot be used with several lists"), "\(many.errors)")

        // With a database the parent must be stored, as for an import.
        let repository = #"{"full_name": "a/b"}"#
        _ = try sandbox.syncdb(
            "import", "-", "--entity", "Repository", "--model", model, "-d", "app.sqlite", input: repository)
        let stored = try sandbox.syncdb(
            "doctor", issues, "--entity", "Issue", "-d", "app.sqlite", "--parent", "Repository:a/b")
        #expect(stored.status == 0, "\(stored.output)\(stored.errors)")
        let missing = try sandbox.syncdb(
            "doctor", issues, "--entity", "Issue", "-d", "app.sqlite", "--parent", "Repository:c")
        #expect(missing.errors.contains("the parent Repository c is not stored"), "\(missing.errors)")
    }

    @Test("doctor reports rows that lack required values, and pending references")
    func databaseIsValidated() throws {
        let model = try sandbox.file(
            "model.json",
            """
            {"entities": {
              "Note": {"attributes": {"id": "integer"}, "relationships": {"user": {"entity": "User", "optional": false}}},
              "User": {"attributes": {"id": "integer"}}}}
            """)
        let made = try sandbox.syncdb(
            "import", "-", "--entity", "Note", "--model", model, "--database", "app.sqlite",
            input: #"[{"id": 1, "user_id": 6}, {"id": 2}]"#)
        #expect(made.status == 0, "\(made.errors)")
        let before = try sandbox.databaseBytes()
        let run = try sandbox.syncdb("doctor", "--database", "app.sqlite")
        #expect(run.status == 1, "\(run.errors)")
        #expect(run.output.contains("entities.Note.relationships.user: 2 Note rows have no user"))
        #expect(run.output.contains("Note 1: the row 6, referenced by 'user', is not stored"))
        #expect(try sandbox.databaseBytes() == before)
        let payload = try sandbox.syncdb(
            "doctor", "-", "--entity", "User", "--database", "app.sqlite", input: #"[{"id": 6}]"#)
        #expect(payload.status == 0, "\(payload.output)\(payload.errors)")
        #expect(try sandbox.databaseBytes() == before)
    }

    @Test("doctor reports colliding names and missing inverses of a model")
    func modelIsValidated() throws {
        let model = try sandbox.file(
            "model.json",
            """
            {"entities": {
              "Note": {"attributes": {"id": "integer", "userID": "integer", "owner": {"type": "integer", "remoteKey": "user_id"}}, "relationships": {
                "author": {"entity": "User"}, "reader": {"entity": "User"}}},
              "User": {"attributes": {"id": "integer"}, "relationships": {"notes": {"entity": "Note", "many": true}}}}}
            """)
        let run = try sandbox.syncdb("doctor", "--model", model)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("the JSON key 'user_id' matches userID and owner"), "\(run.output)")
        #expect(run.output.contains("User.notes has no inverse, and Note.author or Note.reader could be it"))
    }

    @Test(
        "doctor with missing or contradicting arguments is wrong usage",
        arguments: [
            ["doctor"], ["doctor", "x.json", "--model", "m.json"], ["doctor", "--database", "a", "--entity", "User"],
            ["doctor", "--database", "a", "--model", "b"],
        ])
    func contradictingArguments(arguments: [String]) throws {
        #expect(try sandbox.run(arguments).status == 2)
    }
}
