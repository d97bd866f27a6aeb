import Sync

/// A model as text that a drawing program reads.
struct ModelDiagram {
    let model: SyncModel

    var mermaid: String {
        var lines = ["classDiagram"]
        let names = MermaidNames(model.entities.map(\.name))
        for entity in model.entities {
            lines.append("  class \(names.declaration(of: entity.name)) {")
            lines += entity.attributes.map { "    \($0.type) \(MermaidNames.text($0.name))" }
            lines.append("  }")
            if let parent = entity.parent { lines.append("  \(names[parent]) <|-- \(names[entity.name])") }
        }
        lines += links.map { link in
            "  \(names[link.owner]) \"\(link.back)\" --> \"\(link.many)\" \(names[link.target]) : "
                + MermaidNames.text(link.name)
        }
        return lines.joined(separator: "\n")
    }

    var dot: String {
        var lines = ["digraph model {", "  node [shape=record];"]
        for entity in model.entities {
            let attributes = entity.attributes.map { "\(DotText.field($0.name)): \($0.type)\\l" }.joined()
            let name = DotText.quoted(entity.name)
            lines.append("  \(name) [label=\"{\(DotText.field(entity.name))|\(attributes)}\"];")
            if let parent = entity.parent {
                lines.append("  \(name) -> \(DotText.quoted(parent)) [arrowhead=onormal];")
            }
        }
        lines += links.map { link in
            "  \(DotText.quoted(link.owner)) -> \(DotText.quoted(link.target)) [label=\(DotText.label(link.name)), "
                + "taillabel=\"\(link.back)\", headlabel=\"\(link.many)\"];"
        }
        return (lines + ["}"]).joined(separator: "\n")
    }

    /// Every pair of inverses once, from the side that is to-one, or comes first.
    private var links: [(owner: String, name: String, target: String, many: String, back: String)] {
        model.entities.flatMap { entity in
            entity.relationships.compactMap { relationship in
                let inverse = relationship.inverse.flatMap { name in
                    model.entity(named: relationship.destination)?.relationships.first { $0.name == name }
                }
                if let inverse {
                    let mine = (relationship.isToMany ? 1 : 0, entity.name, relationship.name)
                    let other = (inverse.isToMany ? 1 : 0, relationship.destination, inverse.name)
                    if other < mine { return nil }
                }
                return (
                    entity.name, relationship.name, relationship.destination, relationship.isToMany ? "*" : "0..1",
                    inverse.map { $0.isToMany ? "*" : "0..1" } ?? "*"
                )
            }
        }
    }
}
