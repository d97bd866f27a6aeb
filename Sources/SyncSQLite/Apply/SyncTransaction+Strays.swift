import GRDB
import SyncCore

// Stored rows that the payload does not mention, but that point to rows whose links it replaces.
extension SyncTransaction {
    /// Which of a tree's foreign keys can lose rows to what the payload says of their targets.
    func watchedLinks(_ tree: Int) -> [Bool] {
        model.trees[tree].foreignKeys.map { link in
            plan.links[link].replacements.contains { $0.end == .second }
                || (model.links[link].isOneToOne && !plan.links[link].assertions.isEmpty)
        }
    }

    mutating func addStray(_ statement: RawStatement, _ tree: Int, entity: Int, _ watched: [Bool]) throws {
        guard let key = statement.key(0) else { return }
        let index = trees[tree].strays.count
        var isNeeded = scansForScope(tree) && model.entity(entity, isKindOf: plan.entity)
        for (position, link) in model.trees[tree].foreignKeys.enumerated() where watched[position] {
            let column = columns[tree].foreignKeys + position
            let targetTree = model.links[link].second.tree
            if statement.isNull(column) || columns[targetTree].hasHiddenKey { continue }
            guard let target = targetNode(statement, column, targetTree) else {
                if speaksOfAll { doubtfulLinks.insert(link) }
                continue
            }
            trees[tree].strayLinks.append(.init(stray: index, link: link, target: Int32(truncatingIfNeeded: target)))
            isNeeded = true
        }
        if isNeeded, run?.isEnding == true, try isMentionedBefore(StoredRow(tree: tree, key: key)) { return }
        if isNeeded { trees[tree].strays.append(.init(key: key, entity: entity)) }
    }

    /// Completes the strays of tables that were not read whole, and of links to hidden-key tables; drops those that
    /// turned out to be nodes.
    mutating func collectStrays() throws {
        for tree in model.trees {
            let watched = watchedLinks(tree.id)
            for (position, link) in tree.foreignKeys.enumerated() where watched[position] {
                try collectStrays(tree.id, link)
            }
            dropMatchedStrays(tree.id)
        }
    }

    private mutating func collectStrays(_ tree: Int, _ link: Int) throws {
        if trees[tree].isScanned, !columns[model.links[link].second.tree].hasHiddenKey { return }
        let known = Set(trees[tree].strayLinks.lazy.filter { $0.link == link }.map(\.target))
        let targets = strayTargets(link).subtracting(known)
        guard !targets.isEmpty else { return }
        let second = model.links[link].second.tree
        let statement = try storedLinks.pointing(link)
        for target in targets where trees[second].presence[Int(target)] == .stored {
            try advance()
            guard let key = trees[second].rowKey(Int(target), plan.rows[second], pool) else { continue }
            statement.bind(key, at: 1)
            while try statement.step() {
                guard let stray = statement.key(0), !isNode(stray, tree) else { continue }
                let entity = try columns[tree].entity(statement, at: columns[tree].entity == nil ? nil : 1)
                trees[tree].strayLinks.append(.init(stray: trees[tree].strays.count, link: link, target: target))
                trees[tree].strays.append(.init(key: stray, entity: entity))
            }
            statement.reset()
        }
    }

    /// The second-end nodes of a link that can lose rows.
    private func strayTargets(_ link: Int) -> Set<Int32> {
        var targets = Set(plan.links[link].replacements.lazy.filter { $0.end == .second }.map(\.node))
        if model.links[link].isOneToOne { targets.formUnion(plan.links[link].assertions.map(\.second)) }
        return targets
    }

    /// Whether a stored row is one of the plan's nodes.
    func isNode(_ key: RowKey, _ tree: Int) -> Bool { node(of: key, tree) != nil }

    /// The plan's node for a stored row.
    func node(of key: RowKey, _ tree: Int) -> Int32? {
        if columns[tree].hasHiddenKey {
            guard case .integer(let hidden) = key else { return nil }
            return trees[tree].nodeByHiddenKey[hidden]
        }
        if let owned = ownedNode(key, tree) { return owned }
        guard let (type, keyOwner) = columns[tree].commonKey else { return nil }
        let found: Int? =
            switch key {
            case .integer(let value): lookups[tree].node(forKey: .integer(value), keyOwner: keyOwner, pool)
            case .real(let value): lookups[tree].node(forKey: .real(value), keyOwner: keyOwner, pool)
            case .text(let text):
                Array(text.utf8).withUnsafeBufferPointer { bytes in
                    guard type == .date else { return lookups[tree].node(forText: bytes, keyOwner: keyOwner, pool) }
                    return DateParser.milliseconds(bytes).flatMap {
                        lookups[tree].node(forKey: .date($0), keyOwner: keyOwner, pool)
                    }
                }
            }
        return found.map { Int32(truncatingIfNeeded: $0) }
    }

    /// A node that met its row through its owner, or was given a local key.
    private func ownedNode(_ key: RowKey, _ tree: Int) -> Int32? {
        trees[tree].ownedNodes[key]
    }

    private mutating func dropMatchedStrays(_ tree: Int) {
        guard !trees[tree].ownedNodes.isEmpty, !trees[tree].strays.isEmpty else { return }
        let owned = trees[tree].ownedNodes
        let dropped = Set(trees[tree].strays.indices.filter { owned[trees[tree].strays[$0].key] != nil })
        trees[tree].strayLinks.removeAll { dropped.contains($0.stray) }
        for index in dropped { trees[tree].strays[index].isNode = true }
    }

    // MARK: Stored links

    /// The row with a key, if it is stored.
    func storedRow(ofKey key: Slot, _ entity: CompiledEntity) throws -> StoredRow? {
        let statement = try statements.statement(
            "SELECT \(columns[entity.tree].keyColumn) FROM \(columns[entity.tree].table)" + keyCondition(entity))
        statement.bind(key, at: 1, pool)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return statement.key(0).map { StoredRow(tree: entity.tree, key: $0) }
    }
}
