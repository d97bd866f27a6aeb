import Sync

/// A model as the text of a diagram.
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

    /// The associations, each once: from its to-one end if only one end is to-one, or else from the end that sorts
    /// first.
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

/// The Mermaid identifiers of entities. Mermaid allows only some characters in class names, and no keywords.
struct MermaidNames {
    private static let words: Set<String> = [
        "callback", "class", "classDef", "classDiagram", "click", "cssClass", "default", "direction", "end", "href",
        "link", "namespace", "note", "style",
    ]

    /// The identifier of each entity.
    private var identifiers: [String: String] = [:]

    init(_ names: [String]) {
        var taken = Set(names)
        for (index, name) in names.enumerated() {
            var identifier = name
            if !Self.isPlain(name) || Self.words.contains(name) {
                identifier = "entity\(index + 1)"
                while !taken.insert(identifier).inserted { identifier += "_" }
            }
            identifiers[name] = identifier
        }
    }

    subscript(name: String) -> String { identifiers[name] ?? Self.text(name) }

    /// Returns the declaration of a class: its identifier, with a label if the name differs.
    func declaration(of name: String) -> String {
        let identifier = self[name]
        return identifier == name ? name : "\(identifier)[\"\(Self.text(name))\"]"
    }

    /// Returns text with special characters as Mermaid's numeric escapes.
    static func text(_ name: String) -> String {
        name.unicodeScalars.reduce(into: "") { text, scalar in
            if isPlain(scalar) || scalar == " " {
                text.unicodeScalars.append(scalar)
            } else {
                text += "#\(scalar.value);"
            }
        }
    }

    private static func isPlain(_ name: String) -> Bool { name.unicodeScalars.allSatisfy(isPlain) }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isAlphabetic || "0"..."9" ~= scalar
    }
}

/// Escaping of text for Graphviz.
enum DotText {
    /// Returns the name of a node.
    static func quoted(_ name: String) -> String { "\"\(escaped(name, #"\""#))\"" }

    /// Returns the label of an edge, in which `&` begins an entity.
    static func label(_ name: String) -> String { "\"\(escaped(ampersands(name), #"\""#))\"" }

    /// Returns a field of a node's label, in which braces, bars, angle brackets and spaces are special.
    static func field(_ name: String) -> String { escaped(ampersands(name), #"\"{}|<> "#) }

    private static func ampersands(_ name: String) -> String { name.split("&", joinedBy: "&amp;") }

    private static func escaped(_ text: String, _ signs: String) -> String {
        String(text.flatMap { signs.contains($0) ? ["\\", $0] : [$0] })
    }
}

extension String {
    fileprivate func split(_ separator: Character, joinedBy text: String) -> String {
        split(separator: separator, omittingEmptySubsequences: false).joined(separator: text)
    }
}
