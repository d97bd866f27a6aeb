import SyncCore
import SyncStore

/// Takes fingerprints of the records of a plan that was applied: of those whose every statement the store satisfies now,
/// and about which nothing else in the payload says anything different.
struct FingerprintMaker {
    private let sync: SyncTransaction
    private let plan: ChangePlan
    private let log: RecordLog
    private let hasher: RecordHasher
    private let places: WrittenPlaces
    /// Places about which the payload says different things, or more than this can follow.
    private var contested: Set<UInt64> = []
    /// Records that do not count as satisfied.
    private var isOpen: [Bool]

    init(_ sync: SyncTransaction, _ hasher: RecordHasher) {
        self.sync = sync
        self.hasher = hasher
        plan = sync.plan
        log = sync.plan.log ?? RecordLog()
        places = WrittenPlaces(sync.model)
        isOpen = log.records.map { !$0.isWhole }
    }

    /// - Parameter isTaken: Whether a record that was left out has this root row.
    mutating func fingerprints(isTaken: (UInt64) -> Bool) -> FingerprintList {
        guard !log.records.isEmpty else { return FingerprintList() }
        findContestedRows()
        for link in sync.model.links where !plan[link.id].isEmpty { findContested(link) }
        for (_, assertions) in sync.awaited.all {
            for assertion in assertions { isOpen[record(of: assertion.sequence)] = true }
        }
        var found = allFingerprints()
        leaveOutRepeated(found.fingerprints)
        found.fingerprints = found.fingerprints.enumerated().filter { index, fingerprint in
            !isOpen[index] && !isTaken(fingerprint.root)
                && (contested.isEmpty || !found.places.hashes[fingerprint.places].contains(where: contested.contains))
        }.map(\.element)
        return found
    }

    /// Of records of the same row one counts if they are all the same, else none.
    private mutating func leaveOutRepeated(_ found: [Fingerprint]) {
        var seen = HashTable(capacity: found.count)
        let repeated = found.indices.filter { !seen.insert(found[$0].root) }
        guard !repeated.isEmpty else { return }
        let roots = Set(repeated.map { found[$0].root })
        var hashes: [UInt64: Set<RecordHash>] = [:]
        for fingerprint in found where roots.contains(fingerprint.root) {
            hashes[fingerprint.root, default: []].insert(fingerprint.hash)
        }
        for index in repeated { isOpen[index] = true }
        for index in found.indices where hashes[found[index].root]?.count ?? 1 > 1 { isOpen[index] = true }
    }

    /// The record that makes a statement.
    private func record(of sequence: UInt32) -> Int {
        var low = 0
        var high = log.records.count - 1
        while low < high {
            let middle = (low + high) / 2
            if log.records[middle].lastSequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Contests

    private mutating func findContestedRows() {
        for row in log.contested.union(sync.duplicates.keys) { contest(row.table, row.node) }
        for (duplicate, kept) in sync.duplicates { contest(duplicate.table, kept) }
        for table in sync.tables { for node in table.refused { contest(table.id, node) } }
    }

    private mutating func contest(_ table: TableID, _ node: NodeID) {
        for place in [places.row(table), places.gone(table)] {
            hash(node, sync.tables[table], place).map { _ = contested.insert($0) }
        }
    }

    /// Each end of a link may be spoken for once at each row, and links from one of their ends only.
    private mutating func findContested(_ link: Link) {
        let batch = plan[link.id]
        let speakers = Set(batch.assertions.map(\.saidBy)).union(batch.replacements.map(\.end))
        let isSpokenFromBoth = speakers.count > 1 || link.isSymmetric
        var last: [[UInt32]] = [Link.End.first, .second].map { end in
            Array(repeating: 0, count: plan[link.side(end).table].nodes.count)
        }
        func isContested(_ end: Link.End, _ node: NodeID, _ sequence: UInt32) -> Bool {
            defer { last[end.rawValue][node.index] = sequence }
            let earlier = last[end.rawValue][node.index]
            return isSpokenFromBoth || (earlier != 0 && earlier != sequence)
        }
        for replacement in batch.replacements {
            if isContested(replacement.end, replacement.node, replacement.sequence) {
                contest(link, replacement.end, replacement.node)
            }
        }
        for assertion in batch.assertions {
            for (end, node) in [(Link.End.first, assertion.first), (.second, assertion.second)]
            where assertion.saidBy == end || !link.side(end).isToMany {
                if isContested(end, node, assertion.sequence) { contest(link, end, node) }
            }
        }
    }

    private mutating func contest(_ link: Link, _ end: Link.End, _ node: NodeID) {
        hash(node, sync.tables[link.side(end).table], places.links(link.id, end)).map { _ = contested.insert($0) }
    }

    // MARK: Places

    private func hash(_ node: NodeID, _ table: SyncTable, _ place: Int) -> UInt64? {
        if let key = table.keys[node] { return hasher.hash(key, at: place) }
        let slot = table.batch.nodes[node.index].key
        switch slot.kind {
        case .integer, .real: return hasher.hash(slot.bits, at: place)
        case .payloadText, .arenaText: return hasher.hash(sync.pool.bytes(slot), at: place)
        default: return RowKey(slot, sync.pool).map { hasher.hash($0, at: place) }
        }
    }

    /// A fingerprint for each record, one after the other: statements are in the order of the records that make them.
    private mutating func allFingerprints() -> FingerprintList {
        var found = FingerprintList()
        found.unmapped = log.unmapped
        found.fingerprints.reserveCapacity(log.records.count)
        found.places.reserve(log.nodes.count * 2)
        let links = sync.model.links.filter { !plan[$0.id].isEmpty }
        var cursors = links.map { _ in (replacement: 0, assertion: 0) }
        for (index, record) in log.records.enumerated() {
            let start = found.places.count
            let end = index + 1 < log.records.count ? log.records[index + 1].firstNode : log.nodes.count
            if !addRows(record.firstNode..<end, from: start, to: &found.places) { isOpen[index] = true }
            let root = found.places.count > start ? found.places.hashes[start] : 0
            for (place, link) in links.enumerated() {
                addLinks(link, &cursors[place], upTo: record.lastSequence, from: start, to: &found.places)
            }
            found.fingerprints.append(
                Fingerprint(
                    hash: record.hash, root: root, length: record.length, unmapped: Int32(clamping: record.unmapped),
                    places: start..<found.places.count))
        }
        return found
    }

    /// Whether all the rows are stored.
    private func addRows(_ mentions: Range<Int>, from start: Int, to places: inout RecordPlaces) -> Bool {
        for mention in log.nodes[mentions] {
            let table = sync.tables[mention.table]
            guard table.isPresent(mention.node),
                let place = hash(
                    mention.node, table, mention.isGiven ? self.places.row(table.id) : self.places.gone(table.id))
            else { return false }
            let kind = mention.isGiven ? UInt16(truncatingIfNeeded: table.entity(of: mention.node) + 1) : 0
            places.add(place, kind: kind, from: start)
            if table.hasHiddenKey, !addKey(of: mention.node, table, from: start, to: &places) { return false }
        }
        return !mentions.isEmpty
    }

    /// A row with a hidden key is known by the columns of its key too.
    ///
    /// - Returns: Whether they are all known.
    private func addKey(of node: NodeID, _ table: SyncTable, from start: Int, to places: inout RecordPlaces) -> Bool {
        let slot = table.batch.nodes[node.index].key
        let entity = sync.model.entities[table.entity(of: node)]
        guard slot.kind != .absent, let key = RowKey(slot, sync.pool), let owner = entity.keyOwner else { return true }
        if let keySlot = entity.keySlot {
            places.add(hasher.hash(key, at: self.places.key(table.id, slot: keySlot)), from: start)
            return true
        }
        guard let columns = columns(of: key, entity) else { return false }
        places.add(hasher.hash(.text(columns), at: self.places.key(owner: owner)), from: start)
        return true
    }

    /// The columns of a key of several parts, as SQL quotes them.
    private func columns(of key: RowKey, _ entity: CompiledEntity) -> String? {
        guard case .composite(let types)? = sync.model.keyType(of: entity.id), let values = key.parts(types),
            let parts = entity.compositeKey?.parts
        else { return nil }
        let columns = zip(parts, values).map { part, value -> RowKey? in
            guard case .relationship(let index) = part else { return value }
            let target = sync.model.entities[entity.relationships[index].destination]
            let table = sync.tables[target.table]
            guard table.hasHiddenKey, let owner = target.keyOwner else { return value }
            return table.node(withKey: value, sync.model.keyType(of: target.id), keyOwner: owner).flatMap(table.rowKey)
        }
        guard !columns.contains(where: { $0 == nil }) else { return nil }
        return columns.compactMap(\.self).map { column in
            switch column {
            case .integer(let value): "\(value)"
            case .real(let value): "\(value)"
            case .text(let text): SchemaSQL.literal(text)
            }
        }.joined(separator: ",")
    }

    private func addLinks(
        _ link: Link, _ cursor: inout (replacement: Int, assertion: Int), upTo last: UInt32, from start: Int,
        to places: inout RecordPlaces
    ) {
        func add(_ end: Link.End, _ node: NodeID) {
            guard let hash = hash(node, sync.tables[link.side(end).table], self.places.links(link.id, end)) else {
                return
            }
            places.add(hash, from: start)
        }
        let replacements = plan[link.id].replacements
        while cursor.replacement < replacements.count, replacements[cursor.replacement].sequence <= last {
            add(replacements[cursor.replacement].end, replacements[cursor.replacement].node)
            cursor.replacement += 1
        }
        let assertions = plan[link.id].assertions
        while cursor.assertion < assertions.count, assertions[cursor.assertion].sequence <= last {
            let assertion = assertions[cursor.assertion]
            if assertion.saidBy == .first || !link.first.isToMany { add(.first, assertion.first) }
            if assertion.saidBy == .second || !link.second.isToMany { add(.second, assertion.second) }
            cursor.assertion += 1
        }
    }
}
