import Foundation
import Testing

@Suite("--evolve")
struct EvolveTests {
    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox()
        _ = try sandbox.file("a.json", #"[{"id": 1, "name": "Ada", "age": 36}, {"id": 2, "name": "Grace"}]"#)
        _ = try sandbox.file(
            "b.json", #"[{"id": 1, "name": "Ada", "age": 36.5, "nick": "A"}, {"id": 2, "notes": [{"id": 5}]}]"#)
        let first = try run(sandbox, "import", "a.json")
        #expect(first.status == 0, "\(first.errors)")
        return sandbox
    }

    private func run(_ sandbox: Sandbox, _ arguments: String...) throws -> Program.Run {
        try sandbox.run(arguments + ["--entity", "User", "--database", "app.sqlite"])
    }

    @Test("--evolve is suggested for unmapped keys, and the model stays unchanged without it")
    func evolveIsSuggested() throws {
        let sandbox = try sandbox()
        let run = try run(sandbox, "import", "b.json")
        #expect(run.status == 0)
        #expect(
            run.errors.split(separator: "\n").last == """
                note: --evolve would add User.age: double, was integer; User.nick: string, new; Note: new, with id; \
                User.notes: to many Note, new
                """)
        #expect(try self.run(sandbox, "import", "a.json").errors == "")
        #expect(try self.run(sandbox, "import", "b.json", "--quiet").errors == "")
        let shown = try sandbox.syncdb("schema", "show", "--database", "app.sqlite")
        #expect(!shown.output.contains("nick"))
    }

    @Test("--evolve adds no keys for the member names of a keyed relationship")
    func memberNamesAreNoKeys() throws {
        let sandbox = try Sandbox()
        let model = """
            {"entities": {
              "Country": {"primaryKey": "iso", "attributes": {"iso": "string"},
                "relationships": {"unions": {"entity": "Union", "many": true, "keyedBy": true}}},
              "Union": {"attributes": {"id": "string", "title": "string"}}}}
            """
        _ = try sandbox.file("model.json", model)
        for (number, unions) in [#"{"un": true, "eu": true}"#, #"{"un": {"title": "U", "since": 1945}}"#].enumerated() {
            let json = #"[{"iso": "FR", "unions": \#(unions)}]"#
            let run = try sandbox.syncdb(
                "import", "-", "--entity", "Country", "--model", "model.json", "-d", "\(number).sqlite", "--evolve",
                input: json)
            #expect(run.status == 0, "\(run.errors)")
            let evolved = run.errors.split(separator: "\n").filter { $0.hasPrefix("evolved") }
            #expect(evolved == (number == 0 ? [] : ["evolved: Union.since: integer, new"]), "\(run.errors)")
        }
    }

    @Test("--evolve adds nothing for subentities whose keys the model has, and a later import updates them")
    func subentitiesAreKnown() throws {
        let sandbox = try Sandbox()
        let model = """
            {"entities": {
              "P": {"attributes": {"id": "integer"}, "discriminator": {"key": "type", "values": {"q": "Q"}}},
              "Q": {"parent": "P", "attributes": {"x": "integer"}}}}
            """
        _ = try sandbox.file("model.json", model)
        func imported(_ member: String, _ options: String...) throws -> Program.Run {
            _ = try sandbox.file("p.json", #"[{"id": 1, "type": "q", \#(member)}]"#)
            return try sandbox.run(["import", "p.json", "--entity", "P", "-d", "app.sqlite"] + options)
        }
        #expect(try imported(#""x": 1"#, "--model", "model.json").errors == "")
        #expect(try imported(#""x": 1"#, "--evolve").errors == "")
        #expect(try imported(#""x": 2"#).errors == "")
        #expect(try sandbox.count("Q", where: "x == 2") == "1")
        let unread = try imported(#""w": 5"#)
        #expect(unread.errors.contains("note: --evolve would add Q.w: integer, new\n"), "\(unread.errors)")
    }

    @Test("A key that --evolve adds is exported as it was spelled")
    func spellingIsKept() throws {
        let sandbox = try sandbox()
        _ = try sandbox.file("c.json", #"[{"id": 1, "name": "Ada", "lastSeen": "x", "home_town": "y"}]"#)
        #expect(try run(sandbox, "import", "c.json", "--evolve", "--delta").status == 0)
        let exported = try sandbox.syncdb("export", "User", "-d", "app.sqlite", "--where", "id == 1")
        #expect(exported.output.contains(#""lastSeen":"x""#), "\(exported.output)")
        #expect(exported.output.contains(#""home_town":"y""#), "\(exported.output)")
    }

    @Test("--evolve extends the model and imports all values, and diff --evolve changes nothing")
    func evolveExtendsTheModel() throws {
        let sandbox = try sandbox()
        let before = try sandbox.databaseDump()
        let diff = try run(sandbox, "diff", "b.json", "--evolve")
        #expect(diff.status == 0, "\(diff.errors)")
        #expect(diff.output.contains("nick: nil → \"A\""))
        #expect(try sandbox.databaseDump() == before)
        let done = try run(sandbox, "import", "b.json", "--evolve")
        #expect(done.status == 0, "\(done.errors)")
        #expect(done.errors.contains("evolved: User.nick: string, new\n"))
        #expect(!done.output.contains("not "))
        #expect(try sandbox.count("User", where: "age == 36.5 AND nick == 'A'") == "1")
        #expect(try sandbox.count("Note") == "1")
        let again = try run(sandbox, "import", "b.json", "--evolve")
        #expect(again.errors == "")
        #expect(try run(sandbox, "import", "b.json").errors == "")
    }

    @Test("diff --evolve keeps an attribute with stored values, as the import does")
    func diffKeepsStoredValues() throws {
        let sandbox = try Sandbox()
        for (name, boss) in [("a", "null"), ("b", #""x""#), ("c", #"{"id": 7, "name": "B"}"#)] {
            _ = try sandbox.file("\(name).json", #"[{"id": 1, "boss": \#(boss)}]"#)
        }
        #expect(try run(sandbox, "import", "a.json").status == 0)
        #expect(try run(sandbox, "import", "b.json").status == 0)
        #expect(try sandbox.count("User", where: "boss != nil") == "1")
        let diff = try run(sandbox, "diff", "c.json", "--evolve")
        #expect(diff.status == 0, "\(diff.errors)")
        let done = try run(sandbox, "import", "c.json", "--evolve")
        #expect(done.status == 0, "\(done.errors)")
        #expect(diff.errors == done.errors)
    }

    @Test("--evolve adds the entity of the records, and links it to the entities of the model")
    func evolveAddsTheEntity() throws {
        let sandbox = try sandbox()
        _ = try sandbox.file("stock.json", #"[{"sku": "a", "id": 5, "count": 2, "user": {"id": 1, "city": "Rome"}}]"#)
        func stock(_ options: String...) throws -> Program.Run {
            try sandbox.run(["import", "stock.json", "--entity", "Stock", "-d", "app.sqlite"] + options)
        }
        let refused = try stock()
        #expect(refused.status == 1)
        #expect(refused.errors.contains("error: unknown entity 'Stock'; the model has "), "\(refused.errors)")
        #expect(
            refused.errors.contains("hint: use --evolve to add the entities of the JSON to the model"),
            "\(refused.errors)")
        let done = try stock("--evolve")
        #expect(done.status == 0, "\(done.errors)")
        #expect(done.errors.contains("evolved: Stock: new, with "), "\(done.errors)")
        #expect(done.errors.contains("evolved: User.city: string, new"), "\(done.errors)")
        #expect(try sandbox.count("Stock", where: "count == 2 AND user.city == 'Rome'") == "1")
        #expect(try stock("--evolve").errors == "")
        #expect(try stock().errors == "")
    }

    @Test("--evolve reports additions only if the database accepts them")
    func failedEvolutionIsNotReported() throws {
        let sandbox = try sandbox()
        let members = (0..<2500).map { "\"k\($0)\": 1" }
        _ = try sandbox.file("wide.json", "[{\"id\": 1, \(members.joined(separator: ", "))}]")
        for command in ["import", "diff"] {
            let run = try run(sandbox, command, "wide.json", "--evolve")
            #expect(run.status == 1)
            #expect(run.errors.contains("objects with more than 2000 keys"))
            #expect(!run.errors.contains("evolved"))
        }
    }
}
