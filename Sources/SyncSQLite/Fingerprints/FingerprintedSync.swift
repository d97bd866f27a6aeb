import Foundation
import GRDB
import SyncCore

/// A sync that leaves out the records it knows: those of which the store has a fingerprint, and nothing they speak of
/// was written since.
///
/// Inside the transaction, because the fingerprints must be those of the rows that the plan is compared with. See
/// `Docs/Decisions/0012-fingerprints.md` for why nothing is missed.
struct FingerprintedSync {
    let data: Data
    let staging: PayloadStaging
    let use: FingerprintUse
    let options: SyncOptions
    let model: Model
    let layout: StoreLayout
    let arrivals: ArrivalWatch
    let db: Database

    /// - Parameter read: The records that an earlier attempt found out it needs.
    /// - Throws: ``KnownPlaces/NeedsRecords`` if more are needed: undo what was written, and try again.
    func apply(reading read: ToRead) throws -> SyncResult {
        try FingerprintSchema.check(layout, in: db)
        guard try isWorthwhile() else { return try apply(staging.plan(data, options: options), knowing: nil) }
        let stored = try FingerprintSet(use.entity, in: db)
        let set =
            stored.flatMap { $0.meaning == use.meaning ? $0 : nil }
            ?? FingerprintSet(use.entity, use.meaning, replacing: stored != nil)
        try forgetWritten(set)
        let records = set.known(but: read)
        do {
            let plan = try staging.plan(data, options: options, knowing: records)
            let known = KnownPlaces(set, records, model.compiled, db)
            let result = try apply(plan, knowing: known)
            try save(set, known)
            return result
        } catch is SyncError where records.usedCount > 0 {
            // It may be that the records left out would have prevented it.
            throw KnownPlaces.NeedsRecords(records: .all)
        }
    }

    /// A payload much smaller than what the fingerprints are of is sooner read than they are.
    private func isWorthwhile() throws -> Bool {
        if try HandMadeSchema.canHideWrites(layout, in: db) {
            try FingerprintSchema.reset(db)
            return false
        }
        return try data.count * 8 >= FingerprintSet.byteCount(use.entity, in: db)
    }

    // MARK: Applying

    private func apply(_ plan: ChangePlan, knowing known: KnownPlaces?) throws -> SyncResult {
        var run: RunMemory?
        return try SyncTransaction.apply(
            plan, predicate: nil, options: options, layout: layout, arrivals: arrivals, in: db,
            run: &run, knowing: known)
    }

    // MARK: Fingerprints

    /// Drops what was written since, by whomever, from every set.
    private func forgetWritten(_ set: FingerprintSet) throws {
        let written = try WrittenRows(db)
        if written.isEmpty { return }
        for index in try set.concerned(by: written, in: db) { set.drop(index) }
        try forget(written, exceptIn: set)
    }

    private func forget(_ written: WrittenRows, exceptIn set: FingerprintSet) throws {
        for other in try FingerprintSet.all(in: db) where other.entity != set.entity {
            for index in try other.concerned(by: written, in: db) { other.drop(index) }
            try other.save(in: db, model.compiled)
        }
        try WrittenRows.forget(in: db)
    }

    /// What this sync wrote is what the new fingerprints are of.
    private func save(_ set: FingerprintSet, _ known: KnownPlaces) throws {
        let written = try WrittenRows(db)
        if !written.isEmpty { try forget(written, exceptIn: set) }
        // A record that had to be read has a new fingerprint, or better none.
        for index in 0..<set.count where known.records.isStaged[index] { set.drop(index) }
        try set.merge(known.new, in: db)
        try set.save(in: db, model.compiled)
        if set.count > 0 { try FingerprintSchema.watch(layout, in: db) }
    }
}
