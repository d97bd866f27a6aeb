/// The transformers that every model can name without registering them, alone or in a chain.
///
/// ```json
/// "title": { "type": "string", "transformer": ["htmlEntities", "trimmed", "emptyAsNull"] }
/// ```
///
/// They change text, and each text of a list; any other value passes through as it is. One that is registered under the
/// same name counts instead.
public enum BuiltInTransformer: String, Sendable, Hashable, CaseIterable {
    /// `&amp;`, `&eacute;`, `&#233;` and `&#xE9;` become the characters they stand for, once. Back: `&`, `<`, `>` and `"`
    /// are written as entities.
    case htmlEntities
    /// Without blanks and line breaks at both ends. Back: as it is stored.
    case trimmed
    /// A text without characters becomes null. Back: null stays null.
    case emptyAsNull
    /// In small letters. Back: as it is stored.
    case lowercased
    /// `"a, b"` becomes the list `["a", "b"]`, without blanks around its parts and without empty ones, for an attribute of
    /// the type `json`; a list stays one. Back: the parts with commas between them; a list that has other parts than such
    /// text is left out of its record.
    case commaSeparated
}

extension BuiltInTransformer {
    /// The transformer itself.
    var transformer: AttributeTransformer { Self.transformers[self] ?? make() }

    private static let transformers = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0, $0.make()) })

    private func make() -> AttributeTransformer {
        switch self {
        case .htmlEntities:
            AttributeTransformer(rawValue) {
                .json($0.mappingTexts(HTMLEntities.decoded))
            } exporting: { value in
                value.jsonForm.mappingTexts(HTMLEntities.encoded)
            }
        case .trimmed: AttributeTransformer(unchangedOnExport: rawValue) { .json($0.mappingTexts(Self.trimmed)) }
        case .emptyAsNull:
            AttributeTransformer(unchangedOnExport: rawValue) { $0 == .string("") ? .null : .json($0) }
        case .lowercased:
            AttributeTransformer(unchangedOnExport: rawValue) { json in .json(json.mappingTexts { $0.lowercased() }) }
        case .commaSeparated: AttributeTransformer(rawValue, importing: Self.list, exporting: Self.commaSeparated)
        }
    }

    private static func trimmed(_ text: String) -> String {
        var rest = text[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }

    // MARK: Lists

    private static func parts(_ text: String) -> [String] {
        text.split(separator: ",").map { trimmed(String($0)) }.filter { !$0.isEmpty }
    }

    private static func list(_ json: JSONValue) -> StoredValue? {
        switch json {
        case .array: .json(json)
        case .string(let text), .number(let text): .json(.array(parts(text).map(JSONValue.string)))
        case .null, .bool, .object: nil
        }
    }

    /// Nil if reading the text would give another list.
    private static func commaSeparated(_ value: StoredValue) -> JSONValue? {
        guard case .array(let elements) = value.jsonForm else { return nil }
        let texts = elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
        let joined = texts.joined(separator: ",")
        return texts.count == elements.count && parts(joined) == texts ? .string(joined) : nil
    }
}

extension JSONValue {
    /// The text, or each text of the list and of those in it, changed.
    fileprivate func mappingTexts(_ change: (String) -> String) -> JSONValue {
        switch self {
        case .string(let text): .string(change(text))
        case .array(let elements): .array(elements.map { $0.mappingTexts(change) })
        case .null, .bool, .number, .object: self
        }
    }
}
