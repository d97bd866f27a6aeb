extension JSONValue {
    /// The value as indented JSON, members in their order.
    package func prettyText(indent: String = "") -> String {
        let inner = indent + "  "
        switch self {
        case .array(let elements) where !elements.isEmpty:
            let lines = elements.map { inner + $0.prettyText(indent: inner) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(indent)]"
        case .object(let members) where !members.isEmpty:
            let lines = members.map { member in
                inner + JSONValue.string(member.key).compactText + ": " + member.value.prettyText(indent: inner)
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
        default: return compactText
        }
    }

    private var compactText: String { String(decoding: CanonicalJSON.bytes(self), as: UTF8.self) }
}
