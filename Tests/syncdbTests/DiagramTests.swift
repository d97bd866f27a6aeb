import Foundation
import Sync
import Testing

@testable import syncdb

@Suite("Names in schema diagrams")
struct DiagramTests {
    private func diagram(_ entity: String, _ attribute: String, _ relationship: String) throws -> ModelDiagram {
        ModelDiagram(
            model: try SyncModel(entities: [
                SyncModel.Entity(
                    entity, attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute(attribute, .string)],
                    relationships: [SyncModel.Relationship(relationship, to: "B")]),
                SyncModel.Entity("B", attributes: [SyncModel.Attribute("id", .integer)]),
            ]))
    }

    @Test(
        "A Graphviz diagram escapes names",
        arguments: [
            (#"A\"#, #""A\\""#, #"{A\\|"#), ("a{b}|<c>", #""a{b}|<c>""#, #"{a\{b\}\|\<c\>|"#),
            ("a b", #""a b""#, #"{a\ b|"#), ("a&lt;b", #""a&lt;b""#, #"{a&amp;lt;b|"#),
            (#"\N\l"#, #""\\N\\l""#, #"{\\N\\l|"#),
        ])
    func graphvizEscapesNames(name: String, node: String, label: String) throws {
        let dot = try diagram(name, name + "1", name + "2").dot
        #expect(dot.contains("  \(node) [label=\"\(label)"), "\(dot)")
        #expect(dot.contains("  \(node) -> \"B\" [label=\""), "\(dot)")
        #expect(dot.contains("\(label.dropFirst().dropLast())1: string\\l"), "\(dot)")
    }

    @Test(
        "A Mermaid diagram escapes names",
        arguments: [
            (#"A\"#, #"entity1["A#92;"]"#), ("a{b}", #"entity2["a#123;b#125;"]"#), ("a b", #"entity2["a b"]"#),
            ("a#b;c", #"entity2["a#35;b#59;c"]"#), ("note", #"entity2["note"]"#), ("Größe_2", "Größe_2"),
        ])
    func mermaidEscapesNames(name: String, declaration: String) throws {
        let mermaid = try diagram(name, name + "1", name + "2").mermaid
        #expect(mermaid.contains("  class \(declaration) {\n    integer id\n"), "\(mermaid)")
        let identifier = declaration.prefix { $0 != "[" }
        #expect(mermaid.contains("  \(identifier) \"*\" --> \"0..1\" B : "), "\(mermaid)")
    }

    @Test("An entity whose name is the stand-in of another one keeps its name")
    func entityKeepsItsName() throws {
        let names = MermaidNames(["a b", "entity1"])
        #expect(names["entity1"] == "entity1")
        #expect(names["a b"] == "entity1_")
    }
}
