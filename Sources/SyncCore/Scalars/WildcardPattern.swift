/// A pattern in which `*` matches any text, and `?` matches one character. `\*`, `\?` and `\\` stand for the literal
/// characters.
package struct WildcardPattern: Sendable, Hashable {
    private enum Part: Hashable {
        case character(Character)
        case anyCharacter
        case anyText
    }

    private let parts: [Part]

    package init(_ pattern: String) {
        var parts: [Part] = []
        var rest = pattern[...]
        while let character = rest.popFirst() {
            switch character {
            case "*": parts.append(.anyText)
            case "?": parts.append(.anyCharacter)
            case "\\":
                let escaped = rest.first.flatMap { "*?\\".contains($0) ? rest.popFirst() : nil }
                parts.append(.character(escaped ?? character))
            default: parts.append(.character(character))
            }
        }
        self.parts = parts
    }

    /// Returns whether the whole text matches. The number of steps is at most the product of the lengths, because the
    /// search backtracks only to the last `*`.
    package func matches(_ text: String) -> Bool {
        let characters = Array(text)
        var (part, place) = (0, 0)
        var retry: (part: Int, place: Int)?
        while place < characters.count {
            if part < parts.count, parts[part] == .anyText {
                retry = (part + 1, place)
                part += 1
            } else if part < parts.count, parts[part] == .anyCharacter || parts[part] == .character(characters[place]) {
                part += 1
                place += 1
            } else if let last = retry {
                (part, place) = (last.part, last.place + 1)
                retry = (last.part, last.place + 1)
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == .anyText }
    }
}
