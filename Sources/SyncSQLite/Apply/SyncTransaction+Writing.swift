import GRDB
import SyncCore

// Inserts and updates, in key order, with one prepared statement each. Foreign keys are deferred, so any order of
// tables is right.
extension SyncTransaction {
    mutating func writeRows() throws {
        for tree in model.trees where !trees[tree.id].isEmpty {
            try insertRows(tree.id)
            try updateRows(tree.id)
        }
        try unlinkStrays()
    }

    // MARK: Inserts

    private mutating func insertRows(_ tree: Int) throws {
        let batch = plan.rows[tree]
        var new = batch.nodes.indices.filter { trees[tree].presence[$0] == .new }
        guard !new.isEmpty else { return }
        sortByKey(&new, tree)
        let inserted = columns[tree].inserted
        let insertion = try BulkInsertion(
            into: layout.tables[tree].name, names: inserted.map { columns[tree].names[$0] },
            parameters: inserted.map { $0 + 1 }, width: columns[tree].names.count, rowCount: new.count, in: db)
        let defaults = try defaultSlots(tree)
        try insertion.insert(new.count) { row, statement, offset in
            try advance()
            bindNewRow(new[row], tree, defaults, to: statement, offset)
        }
        report.inserted(new, tree, trees[tree], pool)
        noteInserted(new, tree)
    }

    private func bindNewRow(
        _ node: Int, _ tree: Int, _ defaults: Defaults, to statement: RawStatement, _ offset: Int
    ) {
        bindKey(of: node, tree, to: statement, at: offset + 1)
        if let entity = columns[tree].entity {
            let name = model.entities[Int(plan.rows[tree].nodes[node].entity)].name
            statement.bind(.text(name), at: offset + entity + 1)
        }
        bindValues(of: node, tree, defaults, to: statement, offset)
        for index in columns[tree].targets.indices {
            bindTarget(of: node, tree, index, to: statement, at: offset + columns[tree].foreignKeys + index + 1)
            if let order = columns[tree].orders[index] {
                bindOrder(of: node, tree, index, to: statement, at: offset + order + 1)
            }
        }
    }

    private func sortByKey(_ nodes: inout [Int], _ tree: Int) {
        let batch = plan.rows[tree]
        guard nodes.contains(where: { batch.nodes[$0].key.kind != .absent }) else { return }
        if nodes.allSatisfy({ batch.nodes[$0].key.kind == .integer }) {
            let order = KeyOrder.ascending(nodes.map { batch.nodes[$0].key.integer })
            if !order.isEmpty { nodes = order.map { nodes[Int($0)] } }
        } else if nodes.allSatisfy({ batch.nodes[$0].key.isText }) {
            nodes.sort { left, right in
                let l = pool.bytes(batch.nodes[left].key)
                let r = pool.bytes(batch.nodes[right].key)
                return l.lexicographicallyPrecedes(r)
            }
        }
    }

    func bindKey(of node: Int, _ tree: Int, to statement: RawStatement, at parameter: Int) {
        if let key = trees[tree].rowKeys[Int32(truncatingIfNeeded: node)] {
            statement.bind(key, at: parameter)
        } else {
            statement.bind(plan.rows[tree].nodes[node].key, at: parameter, pool)
        }
    }

    /// Attribute values of a new row: the payload's, else the model's defaults. Keys have none.
    private func bindValues(
        of node: Int, _ tree: Int, _ defaults: Defaults, to statement: RawStatement, _ offset: Int
    ) {
        let batch = plan.rows[tree]
        let entity = model.entities[Int(batch.nodes[node].entity)]
        let keyColumn = columns[tree].hasHiddenKey ? nil : model.trees[tree].keySlot
        for slot in 0..<batch.stride {
            let parameter = offset + columns[tree].attributes + slot + 1
            if slot == keyColumn { continue }
            let value = staged(slot, of: node, tree)
            if value.kind == .absent, slot != entity.keySlot, entity.slots.contains(slot) {
                defaults.bind(slot, to: statement, at: parameter)
            } else {
                statement.bind(value, at: parameter, pool)
            }
        }
    }

    /// The model's defaults as slots, with their own texts.
    struct Defaults {
        var slots: [Slot]
        var arena: [UInt8]

        func bind(_ slot: Int, to statement: RawStatement, at parameter: Int) {
            switch slots[slot].kind {
            case .arenaText:
                let bytes = arena[slots[slot].offset..<slots[slot].offset + Int(slots[slot].length)]
                statement.bind(.text(String(decoding: bytes, as: UTF8.self)), at: parameter)
            case .arenaBlob:
                let bytes = arena[slots[slot].offset..<slots[slot].offset + Int(slots[slot].length)]
                statement.bind(copying: Array(bytes), at: parameter)
            default:
                statement.bind(
                    slots[slot], at: parameter,
                    TextPool(payload: .init(start: nil, count: 0), arena: .init(start: nil, count: 0)))
            }
        }
    }

    private func defaultSlots(_ tree: Int) throws -> Defaults {
        var defaults = Defaults(slots: [], arena: [])
        for attribute in model.trees[tree].attributes {
            defaults.slots.append(attribute.defaultValue?.slot(arena: &defaults.arena) ?? .null)
        }
        return defaults
    }

    private func bindTarget(of node: Int, _ tree: Int, _ index: Int, to statement: RawStatement, at parameter: Int) {
        let target = trees[tree].targets[index][node]
        guard target >= 0 else { return statement.bindNull(at: parameter) }
        bindKey(of: Int(target), columns[tree].targets[index], to: statement, at: parameter)
    }

    private func bindOrder(of node: Int, _ tree: Int, _ index: Int, to statement: RawStatement, at parameter: Int) {
        let orders = trees[tree].orders[index]
        guard !orders.isEmpty, orders[node] != TreeState.noOrder else { return statement.bindNull(at: parameter) }
        statement.bind(orders[node], at: parameter)
    }

    // MARK: Updates

    private mutating func updateRows(_ tree: Int) throws {
        let state = trees[tree]
        var updates: [[UInt64]: RawStatement] = [:]
        for node in state.presence.indices where state.presence[node] == .stored {
            guard state.isDirty(node) else {
                if state.values[node] >= 0 { report.unchanged(node, tree, state) }
                continue
            }
            try advance()
            let mask = state.dirtyColumns(node)
            let dirty = (0..<state.columnCount).filter { mask[$0 >> 6] & (1 << UInt64($0 & 63)) != 0 }
            let statement: RawStatement
            if let known = updates[mask] {
                statement = known
            } else {
                let names = dirty.map { "\(columnName($0, tree)) = ?" }.joined(separator: ", ")
                statement = try RawStatement(
                    db, "UPDATE \(columns[tree].table) SET \(names) WHERE \(columns[tree].keyColumn) = ?")
                updates[mask] = statement
            }
            for (index, column) in dirty.enumerated() {
                bindColumn(column, of: node, tree, to: statement, at: index + 1)
            }
            bindKey(of: node, tree, to: statement, at: dirty.count + 1)
            try keepValues(of: node, tree)
            try statement.execute()
            report.updated(node, tree, state, dirty.compactMap { changedName($0, tree) }, pool)
        }
    }

    private func columnName(_ column: Int, _ tree: Int) -> String {
        let attributes = model.trees[tree].attributes.count
        let foreignKeys = model.trees[tree].foreignKeys.count
        if column < attributes { return columns[tree].names[columns[tree].attributes + column] }
        if column < attributes + foreignKeys {
            return columns[tree].names[columns[tree].foreignKeys + column - attributes]
        }
        return columns[tree].names[columns[tree].orders[column - attributes - foreignKeys] ?? 0]
    }

    /// The name of the attribute or to-one relationship behind a column; nil for positions.
    private func changedName(_ column: Int, _ tree: Int) -> String? {
        let attributes = model.trees[tree].attributes
        if column < attributes.count { return attributes[column].name }
        let index = column - attributes.count
        guard index < model.trees[tree].foreignKeys.count else { return nil }
        return model.links[model.trees[tree].foreignKeys[index]].first.relationship?.name
    }

    private func bindColumn(_ column: Int, of node: Int, _ tree: Int, to statement: RawStatement, at parameter: Int) {
        let attributes = model.trees[tree].attributes.count
        let foreignKeys = model.trees[tree].foreignKeys.count
        if column < attributes {
            statement.bind(staged(column, of: node, tree), at: parameter, pool)
        } else if column < attributes + foreignKeys {
            bindTarget(of: node, tree, column - attributes, to: statement, at: parameter)
        } else {
            bindOrder(of: node, tree, column - attributes - foreignKeys, to: statement, at: parameter)
        }
    }

    // MARK: Links

    /// Rows the payload does not mention whose owner says that they are not its any more. Those to be deleted lose what
    /// links they have when they are.
    private mutating func unlinkStrays() throws {
        for row in leaving.rows(where: { !$0.unlinked.isEmpty && $0.leftOut.isEmpty }) {
            try unlink(row, leaving[row].unlinked)
        }
    }

    mutating func unlink(_ row: StoredRow, _ links: Set<Int>) throws {
        for link in links {
            try bookRemovedTarget(link, of: row)
            try clearForeignKey(of: row, link)
        }
    }

    /// Sets a foreign key, and its order, to NULL, and reports the row as updated.
    mutating func clearForeignKey(of row: StoredRow, _ link: Int) throws {
        try keepValues(of: row)
        try storedLinks.clearTarget(of: row, link)
        guard let found = try identity(of: row) else { return }
        noteUpdate(found, row, [model.links[link].first.relationship?.name].compactMap { $0 })
    }

    mutating func writeJoinTables() throws {
        for (link, changes) in joins.sorted(by: { $0.key < $1.key }) {
            guard let stored = StoredPairs(link, layout, db) else { continue }
            try remove(changes.removed, stored)
            try reorder(changes.reordered, stored)
            try add(changes.added, link, stored)
        }
    }

    private func remove(_ pairs: [JoinChanges.Pair], _ stored: StoredPairs) throws {
        guard !pairs.isEmpty else { return }
        let removal = try stored.removal()
        for pair in pairs {
            removal.bind(pair.first, at: 1)
            removal.bind(pair.second, at: 2)
            try removal.execute()
        }
    }

    private func reorder(_ changes: [JoinChanges.Reordering], _ stored: StoredPairs) throws {
        guard !changes.isEmpty else { return }
        let statements = try (stored.replacement(of: .first), stored.replacement(of: .second))
        for change in changes {
            for (statement, position) in [(statements.0, change.orders.first), (statements.1, change.orders.second)] {
                guard let statement, let position else { continue }
                statement.bind(position, at: 1)
                statement.bind(change.pair.first, at: 2)
                statement.bind(change.pair.second, at: 3)
                try statement.execute()
            }
        }
    }

    private mutating func add(_ pairs: [JoinChanges.Link], _ link: Int, _ stored: StoredPairs) throws {
        let ordered = [Link.End.first, .second].filter { stored.order($0) != nil }
        var next = NextOrders(link: link, after: ordered.isEmpty ? [] : pairs)
        for end in ordered { next.keep(pending.noted(of: link).awaitedPlaces(at: end), end) }
        let (firstTree, secondTree) = (model.links[link].first.tree, model.links[link].second.tree)
        try stored.insertion(of: pairs.count).insert(pairs.count) { row, statement, offset in
            try advance()
            let pair = pairs[row]
            bindKey(of: Int(pair.first), firstTree, to: statement, at: offset + 1)
            bindKey(of: Int(pair.second), secondTree, to: statement, at: offset + 2)
            for (index, end) in ordered.enumerated() {
                let node = end == .first ? pair.first : pair.second
                statement.bind(try pair.order(end) ?? nextOrder(&next, end, node), at: offset + 3 + index)
            }
        }
    }

    /// The next free positions at the ends of a link, asked of the store once per row: after what is stored,
    /// after what lists of the payload give, and after what they wait for.
    private struct NextOrders {
        let link: Int
        var known: [Int64: Int64] = [:]
        private(set) var listed: [Int64: Int64] = [:]

        init(link: Int, after added: [JoinChanges.Link]) {
            self.link = link
            for pair in added {
                note(pair.order(.first), Self.place(.first, pair.first))
                note(pair.order(.second), Self.place(.second, pair.second))
            }
        }

        private mutating func note(_ order: Int64?, _ place: Int64) {
            if let order { listed[place] = max(listed[place] ?? 0, order + 1) }
        }

        /// Keeps the places of rows that lists wait for.
        mutating func keep(_ places: [Int32: Int64], _ end: Link.End) {
            for (node, next) in places { note(next - 1, Self.place(end, node)) }
        }

        static func place(_ end: Link.End, _ node: Int32) -> Int64 { Int64(node) << 1 | Int64(end.rawValue) }
    }

    private func nextOrder(_ next: inout NextOrders, _ end: Link.End, _ node: Int32) throws -> Int64 {
        let place = NextOrders.place(end, node)
        if let known = next.known[place] {
            next.known[place] = known + 1
            return known
        }
        let free = max(try freePlace(next.link, end, node), next.listed[place] ?? 0)
        next.known[place] = free + 1
        return free
    }
}
