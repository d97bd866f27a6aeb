import GRDB
package import SyncCore
package import SyncStore

// To look through all links for those that lead nowhere would cost more than most syncs: it is done where there are few, and
// once one is met at rows the payload speaks of. Where links have been found sound, they are until somebody else writes.
extension SQLiteSession {
    /// Links of which there are no more are looked through whatever the payload speaks of.
    private static let few = 1000

    private var dangling: DanglingLinks { DanglingLinks(layout: layout, db: db) }

    package func danglingLinks() throws -> [DanglingPairs] {
        let known = soundLinks.checked.count + soundLinks.sound.count
        var found: [DanglingPairs] = []
        if try meetsDanglingLinks() {
            found = try model.links.compactMap { try self.dangling($0.id) }
            soundLinks.sound = Set(model.links.map(\.id))
        }
        soundLinks.checked.formUnion(soundLinks.sound)
        if soundLinks.checked.count + soundLinks.sound.count > known { keepSoundLinks() }
        return found
    }

    /// Those of join tables that were read whole and have pairs of rows that the payload does not speak of.
    package func danglingPairs() throws -> [DanglingPairs] {
        try model.links.compactMap { link -> DanglingPairs? in
            guard let ends = doubtfulEnds[link.id], link.storage == .joinTable, !isSound(link.id) else { return nil }
            let found = try dangling.exist(link.id, among: ends) ? self.dangling(link.id) : nil
            soundLinks.sound.insert(link.id)
            keepSoundLinks()
            return found
        }
    }

    private func dangling(_ link: LinkID) throws -> DanglingPairs? {
        let pairs = try dangling.find(link)
        return pairs.isEmpty ? nil : DanglingPairs(link, pairs.map { ($0.first, $0.second) })
    }

    package func removeDangling(_ links: [LinkID]) throws { for link in links { try dangling.remove(link) } }

    private func isSound(_ link: LinkID) -> Bool { soundLinks.sound.contains(link) }

    // MARK: Meeting

    private func meetsDanglingLinks() throws -> Bool {
        guard let tables else { return false }
        for link in model.links where !tables[link.first.table].isEmpty || !tables[link.second.table].isEmpty {
            guard soundLinks.checked.insert(link.id).inserted else { continue }
            if try TableSize(of: dangling.table(link.id), limit: Self.few, in: db) == .large { continue }
            if try dangling.exist(link.id) { return true }
            soundLinks.sound.insert(link.id)
        }
        for table in tables where !table.isEmpty {
            for (index, link) in table.tree.foreignKeys.enumerated() {
                if try hasDanglingTargets(table, model[link], index, tables) { return true }
            }
        }
        for link in model.links {
            for end in [Link.End.first, .second] where link.storage == .joinTable || end == .second {
                if try meetsMissingRows(link, end, tables) { return true }
            }
        }
        return false
    }

    /// Whether a foreign key of a row that is spoken of, or of one that points to such a row, leads nowhere.
    private func hasDanglingTargets(
        _ table: SyncTable, _ link: Link, _ index: Int, _ tables: SyncTables
    ) throws -> Bool {
        let presence = tables[link.second.table].met.presence
        var others: [NodeID] = []
        for (node, target) in table.met.foreignKeys[index].targets.enumerated() where target != .nowhere {
            if let target = target.node {
                if presence[target.index] != .stored { return true }
            } else {
                others.append(NodeID(node))
            }
        }
        let pointers = table.met.strays.pointers
        if pointers.contains(where: { $0.link == link.id && presence[$0.target.index] != .stored }) { return true }
        let ends = doubtfulEnds[link.id]
        guard !others.isEmpty || ends != nil, !isSound(link.id) else { return false }
        guard table.met.isScanned else {
            return try dangling.exist(link.id, of: others.compactMap(table.rowKey))
        }
        // Of a table that was read whole with its strays, all other rows lead to rows that the payload speaks of.
        if let ends, others.count * 6 <= table.batch.nodes.count {
            guard try !dangling.exist(link.id, of: others.compactMap(table.rowKey)) else { return true }
            guard try !dangling.exist(link.id, among: ends) else { return true }
        } else {
            guard try !dangling.exist(link.id) else { return true }
        }
        soundLinks.sound.insert(link.id)
        return false
    }

    /// Whether there are links to rows that the payload speaks of and that are not stored.
    private func meetsMissingRows(_ link: Link, _ end: Link.End, _ tables: SyncTables) throws -> Bool {
        let table = tables[link.side(end).table]
        let presence = table.met.presence
        guard presence.contains(where: { $0 != .stored }), !isSound(link.id) else { return false }
        let missing = table.nodes.filter { presence[$0.index] != .stored }
        switch try size(of: dangling.table(link.id), limit: missing.count * 6) {
        case .empty: break
        case .small: if try dangling.exist(link.id) { return true }
        case .large: return try dangling.exist(link.id, to: missing.compactMap(table.rowKey), at: end)
        }
        soundLinks.sound.insert(link.id)
        return false
    }
}
