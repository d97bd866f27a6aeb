import GRDB
import SyncCore

// Stored rows meet the plan's nodes: by one pass over the table, or by looking each key up when the table is much
// larger than the payload. The same pass compares values.
extension SyncTransaction {
    /// What a pass over stored rows is for.
    enum Pass {
        /// Presence, entity and links only: what counts is not decided yet.
        case meet
        /// Values only.
        case compare
        case both
    }

    mutating func matchRows() throws {
        let pass: Pass = plan.mentions.isEmpty ? .both : .meet
        for tree in model.trees where !trees[tree.id].isEmpty || scansForScope(tree.id) {
            try matchKeyedRows(tree.id, pass)
        }
        var targets = OwnedTargets()
        for reference in plan.ownedRows { try matchOwnedRow(reference, pass, &targets) }
        try mergeDuplicates(pass)
        resolveHiddenTargets()
        try collectStrays()
    }

    /// The second pass, once it is decided which records count.
    mutating func compareRows() throws {
        for tree in model.trees where !trees[tree.id].isEmpty { try matchKeyedRows(tree.id, .compare) }
        for reference in plan.ownedRows where trees[reference.tree].presence[reference.node] == .stored {
            guard let key = trees[reference.tree].rowKey(reference.node, plan.rows[reference.tree], pool) else {
                continue
            }
            _ = try accept(rowOf: key, as: reference, .compare)
        }
    }

    /// Whether every stored row must be seen, because those the payload leaves out are deleted.
    func scansForScope(_ tree: Int) -> Bool {
        isWholeEntityScope && !leavesRecordsOut && model.entities[plan.entity].tree == tree
    }

    /// Whether the scope is the whole entity.
    var isWholeEntityScope: Bool {
        deletesMissing && predicate == nil && plan.parent == nil
            && (options.scope == .all || model.entities[plan.entity].rootScope == nil)
    }

    /// Whether the payload is all there is: a stored link to a row that it does not mention is a rare thing.
    var speaksOfAll: Bool { isWholeEntityScope && run == nil }

    // MARK: Keyed rows

    private mutating func matchKeyedRows(_ tree: Int, _ pass: Pass) throws {
        let keyed = plan.rows[tree].nodes.count - plan.rows[tree].owners.count
        if pass != .compare, scansForScope(tree) { return try scan(tree, pass) }
        guard keyed > 0 else { return }
        switch try size(of: columns[tree].table, limit: keyed * 6) {
        case .empty: break
        case .small: try scan(tree, pass)
        case .large:
            if columns[tree].isOrderedByKey, let keys = KeyRange(lookups[tree].integerKeys, factor: 6) {
                try scan(tree, pass, within: keys)
            } else {
                try lookUp(tree, pass)
            }
        }
    }

    /// Whether a table has at most so many rows. What a run once found to be large is not measured again.
    mutating func size(of table: String, limit: Int) throws -> TableSize {
        if let known = run?.largeTables[table], known >= limit { return .large }
        let size = try TableSize(of: table, limit: limit, in: db)
        if size == .large { run?.largeTables[table] = limit }
        return size
    }

    private mutating func scan(_ tree: Int, _ pass: Pass, within range: KeyRange? = nil) throws {
        if pass != .compare { expectTargets(tree) }
        defer { trees[tree].forgetExpectedTargets() }
        // Integer keys are the table's own order, so that rows and nodes can be merged.
        var order =
            columns[tree].isOrderedByKey && !lookups[tree].integerKeys.isEmpty
            ? KeyOrder(lookups[tree].integerKeys) : nil
        let statement = try RawStatement(
            db,
            columns[tree].select + (range == nil ? "" : KeyRange.condition(columns[tree].keyColumn))
                + (order == nil ? "" : " ORDER BY \(columns[tree].keyColumn)"))
        range?.bind(to: statement)
        let collectsStrays = pass != .compare && range == nil
        if collectsStrays { trees[tree].isScanned = true }
        let watched = collectsStrays ? watchedLinks(tree) : []
        var last = -1
        while try statement.step() {
            try advance()
            if let order { prefetch(tree, order) }
            let entity = try columns[tree].entity(statement, at: columns[tree].entity)
            let met =
                order == nil
                ? node(statement, tree, entity: entity, guess: last + 1) : order?.node(for: statement.integer(0))
            if let node = met {
                last = node
                accept(statement, tree, node: node, entity: entity, pass)
            } else if collectsStrays {
                try addStray(statement, tree, entity: entity, watched)
            }
        }
    }

    /// Asks for what the rows after the next few will be compared with.
    @inline(__always)
    private func prefetch(_ tree: Int, _ order: KeyOrder) {
        if let node = order.node(ahead: 16) { lookups[tree].prefetch(node, version: Int(trees[tree].values[node])) }
        if let node = order.node(ahead: 8) { lookups[tree].prefetchTexts(version: Int(trees[tree].values[node]), pool) }
    }

    /// What the payload says last of each foreign key, which is likely what is stored.
    private mutating func expectTargets(_ tree: Int) {
        for (index, link) in model.trees[tree].foreignKeys.enumerated() where !plan.links[link].assertions.isEmpty {
            var expected = Array(repeating: LinkTargets.none, count: trees[tree].presence.count)
            for assertion in plan.links[link].assertions { expected[Int(assertion.first)] = assertion.second }
            trees[tree].expectedTargets[index] = expected
        }
    }

    private mutating func lookUp(_ tree: Int, _ pass: Pass) throws {
        var statements: [Int: RawStatement] = [:]
        let batch = plan.rows[tree]
        // In the order of the table, so that neighbours are found on the same page.
        let order = KeyOrder.ascending(lookups[tree].integerKeys)
        for place in batch.nodes.indices {
            let node = order.isEmpty ? place : Int(order[place])
            guard batch.nodes[node].owner < 0 else { continue }
            try advance()
            let entityID = Int(batch.nodes[node].entity)
            guard let keyOwner = model.entities[entityID].keyOwner else { continue }
            let statement: RawStatement
            if let known = statements[keyOwner] {
                statement = known
            } else {
                statement = try RawStatement(db, columns[tree].select + keyCondition(model.entities[entityID]))
                statements[keyOwner] = statement
            }
            statement.bind(batch.nodes[node].key, at: 1, pool)
            if try statement.step() {
                let entity = try columns[tree].entity(statement, at: columns[tree].entity)
                accept(statement, tree, node: node, entity: entity, pass)
            }
            statement.reset()
        }
    }

    /// ` WHERE key = ?`, among the rows that share the entity's keys.
    func keyCondition(_ entity: CompiledEntity, equals value: String = "?") -> String {
        let tree = entity.tree
        guard columns[tree].hasHiddenKey, let slot = entity.keySlot, let owner = entity.keyOwner else {
            return " WHERE \(columns[tree].keyColumn) = \(value)"
        }
        let among = SchemaSQL.sharedKeyCondition(owner, layout).map { " AND \($0)" } ?? ""
        return " WHERE \(layout.tables[tree].columns[slot].quoted) = \(value)\(among)"
    }

    /// The plan's node for a stored row.
    private func node(_ statement: RawStatement, _ tree: Int, entity: Int, guess: Int) -> Int? {
        let compiled = model.entities[entity]
        if columns[tree].hasHiddenKey, let known = trees[tree].nodeByHiddenKey[statement.integer(0)] {
            return Int(known)
        }
        guard let slot = compiled.keySlot, let keyOwner = compiled.keyOwner else { return nil }
        let column = columns[tree].hasHiddenKey ? columns[tree].attributes + slot : 0
        return node(statement, column, tree, keyType: columns[tree].types[slot], keyOwner, guess: guess)
    }

    /// The node of a tree with the key in a column.
    func node(
        _ statement: RawStatement, _ column: Int, _ tree: Int, keyType: AttributeType, _ keyOwner: Int, guess: Int
    ) -> Int? {
        switch keyType {
        case .integer:
            return lookups[tree].node(
                forInteger: statement.integer(column), keyOwner: keyOwner, pool, guess: guess)
        case .double:
            return lookups[tree].node(forKey: .real(statement.real(column)), keyOwner: keyOwner, pool, guess: guess)
        case .date:
            guard let date = DateParser.milliseconds(statement.text(column)) else { return nil }
            return lookups[tree].node(forKey: .date(date), keyOwner: keyOwner, pool, guess: guess)
        default: return lookups[tree].node(forText: statement.text(column), keyOwner: keyOwner, pool)
        }
    }

    // MARK: Meeting a row

    private mutating func accept(
        _ statement: RawStatement, _ tree: Int, node: Int, entity: Int, _ pass: Pass
    ) {
        if pass != .compare { meet(statement, tree, node: node, entity: entity) }
        if pass != .meet, trees[tree].presence[node] == .stored { compare(statement, tree, node: node) }
    }

    private mutating func meet(_ statement: RawStatement, _ tree: Int, node: Int, entity: Int) {
        let wanted = Int(plan.rows[tree].nodes[node].entity)
        if plan.rows[tree].nodes[node].firstVersion >= 0, !model.entity(entity, isKindOf: wanted) {
            trees[tree].refused.insert(Int32(truncatingIfNeeded: node))
            report.add(
                .entityMismatch, wanted, key: trees[tree].rowKey(node, plan.rows[tree], pool),
                path: path(of: node, tree),
                "the stored row is a \(model.entities[entity].name); the record is skipped")
        }
        trees[tree].presence[node] = .stored
        trees[tree].setEntity(entity, of: node)
        if columns[tree].hasHiddenKey {
            let key = statement.integer(0)
            trees[tree].rowKeys[Int32(truncatingIfNeeded: node)] = .integer(key)
            trees[tree].nodeByHiddenKey[key] = Int32(truncatingIfNeeded: node)
        }
        for index in columns[tree].targets.indices {
            readTarget(statement, tree, node: node, index: index)
            if let order = columns[tree].orders[index] {
                if trees[tree].storedOrders[index].isEmpty {
                    trees[tree].storedOrders[index] = Array(
                        repeating: TreeState.noOrder, count: trees[tree].presence.count)
                }
                trees[tree].storedOrders[index][node] =
                    statement.isNull(order) ? TreeState.noOrder : statement.integer(order)
            }
        }
    }

    private mutating func readTarget(_ statement: RawStatement, _ tree: Int, node: Int, index: Int) {
        let column = columns[tree].foreignKeys + index
        guard !statement.isNull(column) else { return }
        let targetTree = columns[tree].targets[index]
        if columns[targetTree].hasHiddenKey {
            if trees[tree].rawTargets[index].isEmpty {
                trees[tree].rawTargets[index] = Array(repeating: TreeState.noOrder, count: trees[tree].presence.count)
            }
            trees[tree].rawTargets[index][node] = statement.integer(column)
        } else {
            let guess =
                trees[tree].expectedTargets[index].isEmpty ? -1 : Int(trees[tree].expectedTargets[index][node])
            let target = targetNode(statement, column, targetTree, guess: guess)
            trees[tree].storedTargets[index][node] =
                target.map { Int32(truncatingIfNeeded: $0) } ?? LinkTargets.unmentioned
            if target == nil, !plan.rows[targetTree].owners.isEmpty, let key = statement.key(column) {
                trees[tree].unnamedTargets[index][Int32(truncatingIfNeeded: node)] = key
            }
        }
    }

    /// The node a foreign key to an ordinary table points to.
    func targetNode(_ statement: RawStatement, _ column: Int, _ tree: Int, guess: Int = -1) -> Int? {
        guard let key = columns[tree].commonKey, !trees[tree].isEmpty else { return nil }
        return node(statement, column, tree, keyType: key.type, key.owner, guess: guess)
    }

    /// Marks the columns that differ from the payload.
    private mutating func compare(_ statement: RawStatement, _ tree: Int, node: Int) {
        let version = Int(trees[tree].values[node])
        guard version >= 0 else { return }
        let mergedFrom = plan.rows[tree].versionCount
        // A row that was met by its key has it.
        let key = plan.rows[tree].nodes[node].owner < 0 ? columns[tree].keySlot : -1
        let differing =
            version < mergedFrom
            ? plan.rows[tree].slots.withUnsafeBufferPointer { differingSlots(statement, tree, $0, version, key) }
            : trees[tree].merged.withUnsafeBufferPointer {
                differingSlots(statement, tree, $0, version - mergedFrom, key)
            }
        for slot in differing { trees[tree].markDirty(node, column: slot) }
    }

    @inline(__always)
    private func differingSlots(
        _ statement: RawStatement, _ tree: Int, _ slots: UnsafeBufferPointer<Slot>, _ version: Int, _ key: Int
    ) -> [Int] {
        let stride = columns[tree].types.count
        let base = columns[tree].attributes
        let row = UnsafeBufferPointer(rebasing: slots[version * stride..<(version + 1) * stride])
        var differing: [Int] = []
        for slot in 0..<stride where slot != key {
            let value = row[slot]
            if value.kind == .absent || statement.column(base + slot, equals: value, pool) { continue }
            if isSameValue(statement, base + slot, value, columns[tree].types[slot]) { continue }
            differing.append(slot)
        }
        return differing
    }

    /// Whether bytes that differ mean the same: JSON or a decimal that something else wrote in another spelling.
    private func isSameValue(_ statement: RawStatement, _ column: Int, _ slot: Slot, _ type: AttributeType) -> Bool {
        guard slot.isText, !statement.isNull(column) else { return false }
        switch type {
        case .json:
            guard let value = try? JSONValue(parsing: Array(statement.text(column))) else { return false }
            return CanonicalJSON.bytes(value).elementsEqual(pool.bytes(slot))
        case .decimal:
            var canonical: [UInt8] = []
            return DecimalText.append(statement.text(column), to: &canonical)
                && canonical.elementsEqual(pool.bytes(slot))
        default:
            return false
        }
    }

    // MARK: Rows known by their owner

    /// The stored rows of the owner that was last asked for: those of one owner follow each other.
    private struct OwnedTargets {
        var owner: StoredRow?
        var link: Int32 = -1
        var end = Link.End.first
        var keys: [RowKey] = []
    }

    private mutating func matchOwnedRow(
        _ reference: ChangePlan.RowReference, _ pass: Pass, _ targets: inout OwnedTargets
    ) throws {
        let node = plan.rows[reference.tree].nodes[reference.node]
        let owner = plan.rows[reference.tree].owners[Int(node.owner)]
        guard trees[Int(owner.tree)].presence[Int(owner.node)] == .stored,
            let ownerKey = trees[Int(owner.tree)].rowKey(Int(owner.node), plan.rows[Int(owner.tree)], pool)
        else { return }
        let ownerRow = StoredRow(tree: Int(owner.tree), key: ownerKey)
        if targets.owner != ownerRow || targets.link != owner.link || targets.end != owner.end {
            let keys = try storedLinks.targets(of: ownerRow, Int(owner.link), from: owner.end)
            targets = OwnedTargets(owner: ownerRow, link: owner.link, end: owner.end, keys: keys)
        }
        guard Int(owner.position) < targets.keys.count else { return }
        let key = targets.keys[Int(owner.position)]
        if let known = self.node(of: key, reference.tree), trees[reference.tree].presence[Int(known)] == .stored {
            duplicates[reference] = Int(known)
            // For what it owns; it is dropped once all are met.
            trees[reference.tree].presence[reference.node] = .stored
            trees[reference.tree].rowKeys[Int32(truncatingIfNeeded: reference.node)] = key
            return
        }
        guard try accept(rowOf: key, as: reference, pass) else { return }
        trees[reference.tree].setOwnedKey(
            key, of: reference.node, isHidden: columns[reference.tree].hasHiddenKey)
    }

    private mutating func mergeDuplicates(_ pass: Pass) throws {
        mergeDuplicates()
        guard pass == .both else { return }
        for (duplicate, kept) in duplicates {
            guard let key = trees[duplicate.tree].rowKey(kept, plan.rows[duplicate.tree], pool) else { continue }
            trees[duplicate.tree].clearDirty(kept)
            _ = try accept(rowOf: key, as: .init(tree: duplicate.tree, node: kept), .compare)
        }
    }

    private mutating func accept(rowOf key: RowKey, as reference: ChangePlan.RowReference, _ pass: Pass) throws -> Bool
    {
        let statement = try statements.statement(
            columns[reference.tree].select + " WHERE \(columns[reference.tree].keyColumn) = ?")
        statement.bind(key, at: 1)
        guard try statement.step() else { return false }
        defer { statement.reset() }
        let table = columns[reference.tree]
        let entity = try table.entity(statement, at: table.entity)
        accept(statement, reference.tree, node: reference.node, entity: entity, pass)
        return trees[reference.tree].presence[reference.node] == .stored
    }

    /// Foreign keys to rows that were met only after the rows that point to them.
    private mutating func resolveHiddenTargets() {
        for tree in model.trees {
            for (index, link) in tree.foreignKeys.enumerated() {
                let owned = trees[model.links[link].second.tree].ownedNodes
                for (node, key) in trees[tree.id].unnamedTargets[index] {
                    if let target = owned[key] { trees[tree.id].storedTargets[index][Int(node)] = target }
                }
            }
            for (index, link) in tree.foreignKeys.enumerated() where !trees[tree.id].rawTargets[index].isEmpty {
                let nodes = trees[model.links[link].second.tree].nodeByHiddenKey
                for node in trees[tree.id].presence.indices {
                    let raw = trees[tree.id].rawTargets[index][node]
                    if raw == TreeState.noOrder { continue }
                    trees[tree.id].storedTargets[index][node] = nodes[raw] ?? LinkTargets.unmentioned
                }
            }
        }
    }
}
