extension PayloadMapper {
    /// Reports a value that does not fit; fails the sync if it is strict.
    mutating func report(
        _ kind: Diagnostic.Kind, _ entity: Int, _ tape: JSONTape, key: Int, _ bytes: Bytes,
        _ message: String
    ) throws {
        let token = tape.tokens[key]
        let path = path.text(bytes, adding: .key(offset: token.offset, length: Int(token.length)))
        if options.isStrict {
            throw SyncError(.valueDoesNotFit, message, entity: model.entities[entity].name, path: path)
        }
        append(kind, entity, path, message)
    }

    mutating func report(_ kind: Diagnostic.Kind, _ entity: Int, _ bytes: Bytes, _ message: String) {
        guard plan.diagnostics.count < Self.diagnosticLimit else {
            plan.omittedDiagnostics += 1
            return
        }
        append(kind, entity, path.text(bytes), message)
    }

    private mutating func append(_ kind: Diagnostic.Kind, _ entity: Int, _ path: String, _ message: String) {
        guard plan.diagnostics.count < Self.diagnosticLimit else {
            plan.omittedDiagnostics += 1
            return
        }
        plan.diagnostics.append(Diagnostic(kind, entity: model.entities[entity].name, path: path, message: message))
    }

    /// What stands at a token, for a message: its kind, and its value if values may be shown.
    func found(_ tape: JSONTape, at token: Int, _ bytes: Bytes) -> String {
        let kind = tape.name(of: token)
        let token = tape.tokens[token]
        guard options.revealsValues, token.kind == .number || token.kind == .string else { return kind }
        let text = String(decoding: bytes[token.offset..<token.offset + min(Int(token.length), 100)], as: UTF8.self)
        return token.kind == .string ? "'\(text)'" : text
    }
}
