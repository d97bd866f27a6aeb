/// JSON for people: objects of the upper levels with one member a line, those below on one line. The order of members
/// and the spelling of numbers stay.
enum PrettyJSON {
    static func text(_ value: JSONValue, openLevels: Int) -> String {
        var text = ""
        append(value, to: &text, level: 0, openLevels: openLevels)
        return text
    }

    private static func append(_ value: JSONValue, to text: inout String, level: Int, openLevels: Int) {
        switch value {
        case .null: text += "null"
        case .bool(let flag): text += flag ? "true" : "false"
        case .number(let number): text += number
        case .string(let string): text += JSONText.quoted(string)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += ", " }
                append(element, to: &text, level: openLevels, openLevels: openLevels)
            }
            text += "]"
        case .object(let members) where members.isEmpty: text += "{}"
        case .object(let members):
            let isOpen = level < openLevels
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                text += isOpen ? "\n" + indentation(level + 1) : " "
                text += "\(JSONText.quoted(member.key)): "
                append(member.value, to: &text, level: level + 1, openLevels: openLevels)
            }
            text += isOpen ? "\n\(indentation(level))}" : " }"
        }
    }

    private static func indentation(_ level: Int) -> String { String(repeating: "  ", count: level) }
}
