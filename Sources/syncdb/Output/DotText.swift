/// Names in Graphviz's language, shown as they are.
enum DotText {
    /// The name of a node.
    static func quoted(_ name: String) -> String { "\"\(escaped(name, #"\""#))\"" }

    /// A text beside an edge, in which `&` begins a character by its name.
    static func label(_ name: String) -> String { "\"\(escaped(ampersands(name), #"\""#))\"" }

    /// A part of a node's text, in which fields have signs of their own and blanks part words.
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
