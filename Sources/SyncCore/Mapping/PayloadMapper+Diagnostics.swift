extension PayloadMapper {
    /// Reports a value that does not fit; fails the sync if it is strict.
    mutating func report(
        _ kind: SyncResult.Diagnostic.Kind, _ entity: Int, _ tape: JSONTape, key: Int, _ bytes: Bytes,
        _ message: String
    ) throws {
        guard options.isStrict || plan.diagnostics.count < Self.diagnosticLimit else {
            plan.omittedDiagnostics += 1
            return
        }
        let token = tape.tokens[key]
        let path = path.text(bytes, keyTables.all, adding: .key(offset: token.offset, length: Int(token.length)))
        if options.isStrict {
            throw SyncError(.valueDoesNotFit, message, entity: model.entities[entity].name, path: path)
        }
        append(kind, entity, path, bytes, message)
    }

    mutating func report(_ kind: SyncResult.Diagnostic.Kind, _ entity: Int, _ bytes: Bytes, _ message: String) {
        guard plan.diagnostics.count < Self.diagnosticLimit else {
            plan.omittedDiagnostics += 1
            return
        }
        append(kind, entity, path.text(bytes, keyTables.all), bytes, message)
    }

    private mutating func append(
        _ kind: SyncResult.Diagnostic.Kind, _ entity: Int, _ path: String, _ bytes: Bytes, _ message: String
    ) {
        plan.diagnostics.append(
            SyncResult.Diagnostic(
                kind, entity: model.entities[entity].name, key: current.flatMap { keyText(of: $0, bytes) }, path: path,
                message: message))
    }

    /// Whether both are values, and not the same.
    func areContrary(_ one: Slot, _ other: Slot, _ bytes: Bytes) -> Bool {
        plan.arena.withUnsafeBufferPointer { TextPool(payload: bytes, arena: $0).areContrary(one, other) }
    }

    /// Values are read before it is known whose they are: adds the key of the current record.
    mutating func nameRecord(inDiagnosticsFrom first: Int, _ bytes: Bytes) {
        guard first < plan.diagnostics.count, let current, let key = keyText(of: current, bytes) else { return }
        for index in first..<plan.diagnostics.count { plan.diagnostics[index].key = key }
    }

    private func keyText(of record: Mapped, _ bytes: Bytes) -> String? {
        let node = plan[record.table].nodes[record.node.index]
        let type = model.keyType(of: Int(node.entity))
        return plan.arena.withUnsafeBufferPointer { arena in
            RowKey(node.key, TextPool(payload: bytes, arena: arena))?.recordKey(type).description
        }
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
