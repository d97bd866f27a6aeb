/// The diagnostics of mapping, up to a limit. A strict sync throws the first one instead.
struct MappingDiagnostics {
    private let model: CompiledModel
    let isStrict: Bool
    private let includesValuesInErrors: Bool
    private(set) var reported: [SyncDiagnostic] = []
    /// The number of diagnostics above the limit.
    private(set) var omitted = 0

    init(of model: CompiledModel, _ options: SyncOptions) {
        self.model = model
        isStrict = options.isStrict
        includesValuesInErrors = options.includesValuesInErrors
    }

    /// Returns whether one more diagnostic is kept. Otherwise it is only counted, and needs neither a path nor a
    /// message.
    mutating func admitsOne() -> Bool {
        if reported.count < SyncResult.diagnosticLimit { return true }
        omitted += 1
        return false
    }

    mutating func add(
        _ kind: SyncDiagnostic.Kind, _ entity: Int, key: String? = nil, path: String, _ message: String
    ) {
        reported.append(.init(kind, entity: model.entities[entity].name, key: key, path: path, message: message))
    }

    /// Adds the key of a record to the diagnostics of its values, which are read before its key.
    mutating func name(_ key: String, from first: Int) {
        for index in first..<reported.count { reported[index].key = key }
    }

    /// Returns the error of a strict sync.
    func error(_ entity: Int, path: String, _ message: String) -> SyncError {
        SyncError(.typeMismatch, message, entity: model.entities[entity].name, path: path)
    }

    // MARK: Message texts

    /// Returns a description of a value: its JSON type, or its text if values may be shown.
    func describe(_ tape: JSONTape, at token: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let kind = tape.name(of: token)
        let token = tape.tokens[token]
        guard includesValuesInErrors, token.kind == .number || token.kind == .string else { return kind }
        let text = String(decoding: bytes[token.offset..<token.offset + min(Int(token.length), 100)], as: UTF8.self)
        return token.kind == .string ? "'\(text)'" : text
    }

    func name(of slot: Int, _ entity: CompiledEntity) -> String {
        model[entity.table].attributes[slot].name
    }

    /// Returns a description of the values that an attribute takes: its type, its format and the Swift type that checks
    /// them.
    func expected(_ slot: Int, _ entity: CompiledEntity, _ conversion: ValueConversion?) -> String {
        let attribute = model[entity.table].attributes[slot]
        return Self.article(attribute.type) + (attribute.format.map { " written as \($0.text)" } ?? "")
            + (conversion?.typeName.map { " that is a \($0)" } ?? "")
    }

    static func article(_ type: AttributeType) -> String {
        "aeiou".contains(type.rawValue.prefix(1)) ? "an \(type)" : "a \(type)"
    }
}
