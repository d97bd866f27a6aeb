import SyncCore

/// A primary key in the notation of scenarios. Each part is a value of its type, so a decimal part is a number.
enum ScenarioKey: Sendable {
    case single(StoredValue)
    case composite([ScenarioKey])

    init(_ key: PrimaryKeyValue, _ type: KeyType?) {
        switch (key, type) {
        case (.composite(let parts), .composite(let types)?) where parts.count == types.count:
            self = .composite(zip(parts, types).map { ScenarioKey($0, $1) })
        case (_, .single(let type)?):
            self = .single(Coercion.storedValue(key.json, as: type) ?? .json(key.json))
        default:
            self = .single(.json(key.json))
        }
    }

    var json: JSONValue {
        switch self {
        case .single(let value): ValueMatcher.json(value)
        case .composite(let parts): .array(parts.map(\.json))
        }
    }

    func matches(_ expected: JSONValue) -> Bool {
        switch (self, expected) {
        case (.single(let value), _): ValueMatcher.matches(expected, value)
        case (.composite(let parts), .array(let values)):
            parts.count == values.count && zip(parts, values).allSatisfy { $0.matches($1) }
        case (.composite, _): false
        }
    }
}
