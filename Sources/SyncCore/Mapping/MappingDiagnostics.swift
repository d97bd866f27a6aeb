/// The diagnostics of mapping, up to a limit. For a value of the wrong type, a strict sync throws an error instead.
struct MappingDiagnostics {
    private let model: CompiledModel
    let isStrict: Bool
    private let includesValuesInErrors: Bool
    private(set) var reported: [SyncDiagnostic] = []
    /// The number of diagnostics beyond the limit.
    private(set) var omitted = 0

    init(of model: CompiledModel, _ options: SyncOptions) {
        self.model = model
        isStrict = options.isStrict
        includesValuesInErrors = options.includesValuesInErrors
    }

    /// Returns whether there is room for another diagnostic. If not, counts it as omitted, so that the caller need not
    /// create its path and message.
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

    /// Sets the key of the diagnostics from index `first` on. The values of a record are read before its key is known.
    mutating func name(_ key: String, from first: Int) {
        for index in first..<reported.count { reported[index].key = key }
    }

    /// Returns the error that a strict sync throws for a value of the wrong type.
    func error(_ entity: Int, path: String, _ message: String) -> SyncError {
        SyncError(.typeMismatch, message, entity: model.entities[entity].name, path: path)
    }

    // MARK: Message texts

    /// Returns a description of a value: its JSON type. For a string or number, it is the start of the text if errors
    /// may include values.
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

    /// Returns a description of the values that an attribute accepts: its type, its format, and the Swift type that
    /// checks the values.
    func expected(_ slot: Int, _ entity: CompiledEntity, _ conversion: ValueConversion?) -> String {
        let attribute = model[entity.table].attributes[slot]
        return Self.article(attribute.type) + (attribute.format.map { " written as \($0.text)" } ?? "")
            + (conversion?.typeName.map { " that is a \($0)" } ?? "")
    }

    static func article(_ type: AttributeType) -> String {
        "aeiou".contains(type.rawValue.prefix(1)) ? "an \(type)" : "a \(type)"
    }
}
