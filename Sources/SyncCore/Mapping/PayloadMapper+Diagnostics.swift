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

// MARK: - Unread

/// What is known of the key of a root record.
enum RootKeyState {
    /// It has none, or null.
    case lacking
    /// It has one that is not of the type, or only a part of one: it may be of any row.
    case unreadable
    case read
}

// Root records without a readable key.
extension PayloadMapper {
    /// Notes of the root record just mapped that its row is not known.
    mutating func noteRootKey(_ root: Int, _ bytes: Bytes) {
        guard rootKeyState != .read else { return }
        let isUnread = rootKeyState == .unreadable
        guard isUnread || plan.firstKeyless == nil else { return }
        let path = path.text(bytes, keyTables.all)
        plan.firstKeyless = plan.firstKeyless ?? .init(entity: plan.roots[root].entity, path: path)
        guard isUnread else { return }
        if plan.roots[root].unread == 0 { plan.roots[root].firstUnread = path }
        plan.roots[root].unread += 1
    }

    /// A resource that has an id and does not say of which type may be of any row.
    mutating func noteResourceWithoutType(_ tape: JSONTape, at place: Place, _ root: Int, _ bytes: Bytes) {
        if let type = tape.member(named: "type", of: place.token, in: bytes), tape.tokens[type].kind == .string {
            return
        }
        let hasID = tape.member(named: "id", of: place.token, in: bytes) != nil
        rootKeyState = hasID ? .unreadable : .lacking
        noteRootKey(root, bytes)
    }
}

// MARK: - Progress

extension PayloadMapper {
    /// Tells how far mapping is, and notices a cancelled task.
    func report(_ completed: Int, of total: Int) throws {
        if Task.isCancelled { throw CancellationError() }
        options.progress?(PayloadProgress(.mapping, completed: completed, total: total))
    }
}
