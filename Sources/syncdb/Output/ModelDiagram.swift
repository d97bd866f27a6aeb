import Sync

/// A model as text that a drawing program reads.
struct ModelDiagram {
    let model: Model

    var mermaid: String {
        var lines = ["classDiagram"]
        for entity in model.entities {
            lines.append("  class \(entity.name) {")
            lines += entity.attributes.map { "    \($0.type) \($0.name)" }
            lines.append("  }")
            if let parent = entity.parent { lines.append("  \(parent) <|-- \(entity.name)") }
        }
        lines += links.map { link in
            "  \(link.owner) \"\(link.back)\" --> \"\(link.many)\" \(link.target) : \(link.name)"
        }
        return lines.joined(separator: "\n")
    }

    var dot: String {
        var lines = ["digraph model {", "  node [shape=record];"]
        for entity in model.entities {
            let attributes = entity.attributes.map { "\($0.name): \($0.type)\\l" }.joined()
            lines.append("  \"\(entity.name)\" [label=\"{\(entity.name)|\(attributes)}\"];")
            if let parent = entity.parent {
                lines.append("  \"\(entity.name)\" -> \"\(parent)\" [arrowhead=onormal];")
            }
        }
        lines += links.map { link in
            "  \"\(link.owner)\" -> \"\(link.target)\" [label=\"\(link.name)\", taillabel=\"\(link.back)\", "
                + "headlabel=\"\(link.many)\"];"
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
