import Foundation
import GRDB
import SyncCore

/// What the records that a plan leaves out speak of, and what becomes of their fingerprints.
final class KnownPlaces {
    /// Thrown where leaving records out could make a difference: these are to be read too.
    struct NeedsRecords: LocalizedError {
        let records: ToRead
        var errorDescription: String? { "records that came before are needed whole" }
    }

    let set: FingerprintSet
    let records: KnownRecords
    /// The links that others wrote to since the fingerprints were made.
    let doubtfulLinks: Set<LinkID>
    /// Of the records that were read.
    private(set) var new = FingerprintList()
    /// Why what records speak of could not be read.
    private var failure: (any Error)?
    private let db: Database
    private let places: WrittenPlaces
    private var rootTable: HashTable?
    private var mentioned: FingerprintSet.Mentioned?
    private var nextRoot = 0

    init(
        _ set: FingerprintSet, _ records: KnownRecords, doubting links: Set<LinkID>, _ model: CompiledModel,
        _ db: Database
    ) {
        doubtfulLinks = links
        self.set = set
        self.records = records
        self.db = db
        places = WrittenPlaces(model)
    }

    /// The known records that the payload has.
    var used: LazyFilterSequence<Range<Int>> {
        let uses = records.uses
        return uses.indices.lazy.filter { uses[$0] > 0 }
    }

    // MARK: Rows

    /// Whether one of the records that were left out speaks of a row.
    func mentions(_ row: StoredRow) -> Bool {
        guard records.usedCount > 0 else { return false }
        let given = set.hasher.hash(row.key, at: places.row(row.table))
        if isRoot(given) { return true }
        do {
            let table = try allMentioned().table
            return table.contains(given) || table.contains(set.hasher.hash(row.key, at: places.gone(row.table)))
        } catch {
            failure = error
            return true
        }
    }

    /// Whether one of the records left out gives this row as its own. Rows are likely to be asked for in the order of
    /// the records.
    func isRoot(_ hash: UInt64) -> Bool {
        if nextRoot < set.count, set.fingerprints[nextRoot].root == hash, records.uses[nextRoot] > 0 {
            nextRoot += 1
            return true
        }
        let table = rootTable ?? HashTable(used.map { [fingerprints = set.fingerprints] in fingerprints[$0].root })
        rootTable = table
        return table.contains(hash)
    }

    private func allMentioned() throws -> FingerprintSet.Mentioned {
        if let mentioned { return mentioned }
        let found = FingerprintSet.Mentioned(
            used.map { [fingerprints = set.fingerprints] in fingerprints[$0].places }, try set.places(in: db))
        mentioned = found
        return found
    }

    // MARK: Settling

    /// Has records read that speak of what the plan wrote; forgets the fingerprints of others that do.
    ///
    /// - Throws: ``NeedsRecords`` if there are such records.
    func settleWritten() throws {
        if let failure { throw failure }
        let concerned = try set.concerned(by: WrittenRows(db), in: db)
        let left = concerned.filter { records.uses[$0] > 0 }
        guard left.isEmpty else {
            throw NeedsRecords(records: .some(Set(left.map { set.fingerprints[$0].hash })))
        }
        for index in concerned { set.drop(index) }
    }

    func keep(_ fingerprints: FingerprintList) { new = fingerprints }

    // MARK: Counting

    /// How many different rows the records left out give, by entity.
    func rowCounts(_ model: CompiledModel, isWhole: Bool) throws -> [Int] {
        if isWhole, records.usedCount == set.count { return model.entities.map { set.rowCounts[$0.name] ?? 0 } }
        let counts = try allMentioned().rowCounts
        return model.entities.map { counts[$0.id] ?? 0 }
    }

    /// Whether one of the records left out gives a row.
    func gives(_ hash: UInt64) throws -> Bool { try allMentioned().table.contains(hash) }
}
