/// Names in Mermaid's language, which takes few characters for the name of a class and has words of its own.
struct MermaidNames {
    private static let words: Set<String> = [
        "callback", "class", "classDef", "classDiagram", "click", "cssClass", "default", "direction", "end", "href",
        "link", "namespace", "note", "style",
    ]

    /// Entity → what it is called in the diagram.
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

    /// What a class is called, and how that is shown where it differs.
    func declaration(of name: String) -> String {
        let identifier = self[name]
        return identifier == name ? name : "\(identifier)[\"\(Self.text(name))\"]"
    }

    /// A text with the characters that mean something by their numbers, as Mermaid reads them.
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
