import Foundation
import Testing

@Suite("schema")
struct SchemaTests {
    @Test("schema show lists the attributes and relationships of a model")
    func modelIsListed() throws {
        let run = try Sandbox().syncdb("schema", "show", "--model", Sandbox.model)
        #expect(run.status == 0, "\(run.errors)")
        let lines = run.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.contains("id integer primary key"))
        #expect(lines.contains("email string from contact.email"))
        #expect(lines.contains("notes → many Note inverse user, cascade"))
    }

    @Test("schema show of a database prints the model that it was created with")
    func storedModelIsShown() throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers(Sandbox.day1)
        let file = try sandbox.syncdb("schema", "show", "--model", Sandbox.model, "--json")
        let kept = try sandbox.syncdb("schema", "show", "--database", "app.sqlite", "--json")
        #expect(kept.status == 0, "\(kept.errors)")
        #expect(kept.output == file.output)
    }

    @Test("schema show marks each part of a composite primary key")
    func keyPartsAreMarked() throws {
        let sandbox = try Sandbox()
        let model = try sandbox.file(
            "model.json",
            """
            {"entities": {
              "Order": {"attributes": {"id": "integer"},
                "relationships": {"lines": {"entity": "Line", "many": true, "inverse": "order"}}},
              "Line": {"primaryKey": ["order", "lineNo"], "attributes": {"lineNo": "integer", "text": "string"},
                "relationships": {"order": {"entity": "Order", "inverse": "lines"}}}}}
            """)
        let run = try sandbox.syncdb("schema", "show", "--model", model)
        #expect(run.status == 0, "\(run.errors)")
        let lines = run.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.contains("lineNo integer primary key"))
        #expect(lines.contains("order → Order primary key, inverse lines"), "\(run.output)")
    }

    @Test("schema convert writes a schema file that converts to itself")
    func convertIsStable() throws {
        let sandbox = try Sandbox()
        let first = try sandbox.syncdb("schema", "convert", Sandbox.model, "--output", "a.json")
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.output == "")
        let second = try sandbox.syncdb("schema", "convert", "a.json")
        let written = try String(contentsOf: sandbox.folder.appendingPathComponent("a.json"), encoding: .utf8)
        #expect(second.output == written)
        #expect(written.contains("\"contact.email\""))
    }
}

@Suite("schema diagram")
struct SchemaDiagramTests {
    @Test("schema diagram draws entities, and each association once")
    func diagramDrawsAssociations() throws {
        let sandbox = try Sandbox()
        let mermaid = try sandbox.syncdb("schema", "diagram", "--model", Sandbox.model)
        #expect(mermaid.status == 0, "\(mermaid.errors)")
        #expect(mermaid.output.hasPrefix("classDiagram\n  class Company {\n    integer id\n"))
        #expect(
            mermaid.output.hasSuffix(
                """
                  Note "*" --> "0..1" User : user
                  Tag "*" --> "*" User : users
                  User "*" --> "0..1" Company : company

                """))
        try sandbox.importUsers(Sandbox.day1)
        let dot = try sandbox.syncdb("schema", "diagram", "--database", "app.sqlite", "--format", "dot")
        #expect(dot.output.contains(#""Note" -> "User" [label="user", taillabel="*", headlabel="0..1"];"#))
        #expect(try sandbox.syncdb("schema", "diagram").status == 2)
    }
}
