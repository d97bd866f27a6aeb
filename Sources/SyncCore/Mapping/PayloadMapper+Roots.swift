import Foundation

// Maps root records: the elements of the payload, or the records of its lists.
extension PayloadMapper {
    /// The location of a record in a payload that is not plain (``PayloadLayout/isPlain``).
    package struct TokenLocation {
        /// The token of the record (`token`) and that of its object key (`name`); -1 if it has no object key.
        var token = 0
        var name = -1
        /// The index of the record's list in ``PayloadLayout/lists`` (`list`), and the index of the record in the list
        /// (`index`).
        var list = 0
        var index = 0
    }

    /// Maps one root record, the first value of `tape`.
    mutating func mapRoot(_ tape: JSONTape, _ bytes: Bytes) throws {
        reader.path.reset(to: graph.rootRecords)
        graph.rootRecords += 1
        try mapRoot(
            tape, at: 0, as: graph.entity, Context(permission: AllowedOperations(root: graph.operations)), ofList: 0,
            bytes)
    }

    /// Maps a record of one of the payload's lists.
    mutating func mapRoot(_ tape: JSONTape, at location: TokenLocation, _ layout: PayloadLayout, _ bytes: Bytes) throws
    {
        let list = layout.lists[location.list]
        reader.path.reset(to: listedRecords)
        listedRecords += 1
        reader.path.root = .init(location, tape)
        if list.root >= 0 {
            graph.rootRecords += 1
            graph.roots[list.root].records += 1
        }
        guard let entity = entity(tape, at: location, list, layout, bytes) else {
            if list.root >= 0 { reportResourceWithoutType(tape, at: location, list.root, bytes) }
            return
        }
        if layout.readsConnections, location.token > 0 {
            try reader.readEdge(tape, of: entity, bytes, &graph)
        }
        var context = Context(permission: .full)
        context.isResource = layout.types != nil
        if location.name >= 0 {
            context.name = Int32(truncatingIfNeeded: location.name)
            context.nameSlot = Int32(truncatingIfNeeded: list.nameSlot)
        }
        guard list.root >= 0, model.entity(entity, isKindOf: list.entity) else {
            _ = try record(tape, at: location.token, as: entity, context, bytes)
            return
        }
        context.permission = AllowedOperations(root: graph.operations)
        let readable = graph.readableRootRecords
        try mapRoot(tape, at: location.token, as: entity, context, ofList: list.root, bytes)
        graph.roots[list.root].readable += graph.readableRootRecords - readable
    }

    /// Maps a root record as an entity.
    ///
    /// - Parameter list: The index of the record's list in ``PayloadGraph/roots``.
    private mutating func mapRoot(
        _ tape: JSONTape, at token: Int, as entity: Int, _ context: Context, ofList list: Int, _ bytes: Bytes
    ) throws {
        var context = context
        context.isRoot = true
        if let parent = graph.parent { context.arrival = (parent.link, parent.end.other, parent.node) }
        rootKeyState = .lacking
        let mapped = try record(tape, at: token, as: entity, context, bytes)
        recordRootKey(list, bytes)
        guard let root = mapped else { return }
        if graph[root.table].nodes[root.node.index].isRoot { graph.duplicateRecordCount += 1 }
        graph[root.table].setRoot(root.node)
        guard let parent = graph.parent else { return }
        LinkAssertionBuilder(parent, in: model).add(
            root.node, kind: root.entity,
            at: Int32(truncatingIfNeeded: graph.firstRecord + graph.rootRecords - 1), occurrence: root.occurrence,
            to: &graph)
    }

    /// Returns the entity of a record in a list. For a resource without a known type, reports it and returns nil.
    private mutating func entity(
        _ tape: JSONTape, at location: TokenLocation, _ list: PayloadLayout.List, _ layout: PayloadLayout,
        _ bytes: Bytes
    ) -> Int? {
        guard layout.types != nil else { return list.entity }
        guard let type = tape.member(named: "type", of: location.token, in: bytes), tape.tokens[type].kind == .string
        else {
            report(.unknownDiscriminatorValue, list.entity, bytes, "the resource has no type; the resource is skipped")
            return nil
        }
        if let entity = reader.resources?.entity(ofType: tape, at: type, bytes) { return entity }
        if tables.kinds.knows(tape.tokens[type], of: list.entity, bytes) { return list.entity }
        report(
            .unknownDiscriminatorValue, list.entity, bytes,
            "no entity has the resource type '\(tape.text(at: type, in: bytes).prefix(100))'; the resource is skipped")
        return nil
    }

    /// Records that the payload is a single object outside an array. It deletes no other rows, unless a predicate or a
    /// parent sets the scope. If the object has no key, stores the paths of its lists, which may contain the records.
    mutating func addSingleRecord(_ tape: JSONTape, _ bytes: Bytes) {
        graph.roots[0].isSingleRecord = true
        if graph.readableRootRecords == 0 { graph.listPaths = tape.listPaths(in: bytes) }
    }

    /// Reports the progress of mapping.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    func notifyProgress(_ completed: Int, of total: Int) throws {
        if Task.isCancelled { throw CancellationError() }
        options.progress?(SyncProgress(.mapping, completed: completed, total: total))
    }

    /// Returns the complete graph, with its diagnostics and counts. Call this after the last record.
    mutating func finish(payload: Data) -> PayloadGraph {
        graph.payload = payload
        graph.diagnostics = reader.diagnostics.reported
        graph.omittedDiagnosticCount = reader.diagnostics.omitted
        for table in graph.rows.indices { graph.rows[table].finish() }
        repeats.compareLinks(&graph)
        if tracksOccurrences { graph.tablePaths = reader.keyTables.all.map(\.path) }
        for table in reader.keyTables.all {
            for (name, count) in zip(table.names, table.unmapped) where count > 0 {
                let key = (table.path + [String(decoding: name, as: UTF8.self)]).joined(separator: ".")
                graph.unmappedKeys.append(
                    .unmapped(key, of: model.entities[table.entity].name, count: count))
            }
        }
        return graph
    }
}

// MARK: - Keys of root records

/// The state of the primary key of a root record.
enum RootKeyState {
    /// The key is missing or null, or none of the attributes of a composite key has a value.
    case lacking
    /// The key has the wrong type, or a composite key is incomplete. The record can describe any row.
    case unreadable
    case read
}

extension PayloadMapper {
    /// Counts the last root record if its key is unreadable. Records the path of the first record without a readable
    /// key.
    mutating func recordRootKey(_ root: Int, _ bytes: Bytes) {
        guard rootKeyState != .read else { return }
        let isUnread = rootKeyState == .unreadable
        guard isUnread || graph.firstKeyless == nil else { return }
        let path = reader.pathText(bytes)
        graph.firstKeyless = graph.firstKeyless ?? .init(entity: graph.roots[root].entity, path: path)
        guard isUnread else { return }
        if graph.roots[root].unreadable == 0 { graph.roots[root].firstUnreadable = path }
        graph.roots[root].unreadable += 1
    }

    /// Counts a resource without a type as a record without a readable key. If the resource has an `id`, it can
    /// describe any row. Does nothing for a resource with a type.
    mutating func reportResourceWithoutType(_ tape: JSONTape, at location: TokenLocation, _ root: Int, _ bytes: Bytes) {
        if let type = tape.member(named: "type", of: location.token, in: bytes), tape.tokens[type].kind == .string {
            return
        }
        let hasID = tape.member(named: "id", of: location.token, in: bytes) != nil
        rootKeyState = hasID ? .unreadable : .lacking
        recordRootKey(root, bytes)
    }
}
