import Sync

/// The to-one references in a history that devices wrote, and those that the service had. Rows are identified as in
/// ``HistoryLedger``.
struct HistoryLinks {
    /// The members of histories whose references are checked.
    static let members: Set<HistoryMember> = [.pairs, .mates, .absent, .partial]

    /// An entry of the conflict log.
    struct Logged: Hashable, Sendable {
        /// The entity and the key of the row.
        let row: String
        /// The name of the relationship or the attribute; empty for an entry about the whole row.
        let field: String
    }

    /// A to-one relationship of a row.
    fileprivate struct Owner: Hashable {
        let row: String
        let relationship: String
    }

    fileprivate struct Link: Hashable {
        let owner: Owner
        let target: String
    }

    /// The references that each device wrote and did not replace.
    fileprivate var written: [Int: [Owner: String]] = [:]
    fileprivate var ofService: Set<Link> = []
    /// The keys that each row had at the service. A row that is created again may get another key.
    fileprivate var keys: [String: Set<String>] = [:]
}

extension HistoryLedger {
    /// Records the references that a device wrote. References to rows that are not stored are not recorded.
    func noteLinks(of line: Line, replacing old: Line?, in rows: [String: Line], by device: Int) {
        let references = [
            ("project", old?.project, line.project, "Project"), ("badge", old?.badge, line.badge, "Tag"),
            ("mate", old?.mate, line.mate, "Project"),
        ]
        for (relationship, former, key, entity) in references where (former ?? "") != key {
            let owner = HistoryLinks.Owner(row: first(line.name), relationship: relationship)
            links.written[device, default: [:]][owner] = rows["\(entity) \(key)"].map { first($0.name) }
        }
    }

    /// Records the references of the service.
    func recordLinks(_ contents: [String: [JSONValue: JSONValue]]) {
        let relationships = [
            ("Task", "project", "project_id", "Project"), ("Project", "badge", "badge_id", "Tag"),
            ("Project", "mate", "mate_id", "Project"),
        ]
        for (entity, records) in contents {
            for (id, record) in records {
                links.keys[first(Self.name(record)), default: []].insert("\(entity) \(id.plain)")
            }
        }
        for (entity, relationship, member, destination) in relationships {
            for record in (contents[entity] ?? [:]).values {
                guard let id = record[member], let referenced = contents[destination]?[id] else { continue }
                let (row, target) = (first(Self.name(record)), first(Self.name(referenced)))
                let owner = HistoryLinks.Owner(row: row, relationship: relationship)
                links.ofService.insert(HistoryLinks.Link(owner: owner, target: target))
                guard relationship == "mate" else { continue }
                // The two rows reference each other.
                let mate = HistoryLinks.Owner(row: target, relationship: relationship)
                links.ofService.insert(HistoryLinks.Link(owner: mate, target: row))
            }
        }
    }

    /// Checks that each reference which a device wrote reached the service, or has an entry in the conflict log.
    /// References of deleted rows, and references to them, are not checked.
    ///
    /// - Parameters:
    ///   - lines: The rows of the device.
    ///   - logged: The entries of the conflict log.
    func judgeLinks(_ lines: [String: Line], logged: Set<HistoryLinks.Logged>, of device: Int) -> [String] {
        var places: [String: String] = [:]
        for (place, line) in lines { places[first(line.name)] = place }
        var found: [String] = []
        for (owner, target) in links.written[device] ?? [:] {
            guard let place = places[owner.row], let other = places[target],
                deleted.isDisjoint(with: [owner.row, target]),
                !links.ofService.contains(HistoryLinks.Link(owner: owner, target: target))
            else { continue }
            var logging = links.keys[owner.row, default: []].union([place])
            if owner.relationship == "mate" { logging.formUnion(links.keys[target, default: []].union([other])) }
            let entries = logging.flatMap { row in
                [owner.relationship, ""].map { HistoryLinks.Logged(row: row, field: $0) }
            }
            guard logged.isDisjoint(with: entries) else { continue }
            found.append("device \(device) lost the \(owner.relationship) \(target) of \(place), without a log entry")
        }
        return found.sorted()
    }
}
