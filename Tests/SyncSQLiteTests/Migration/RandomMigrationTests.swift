import Foundation
import GRDB
import SyncCore
import TestSize
import Testing

@testable import SyncSQLite

/// Migrations of random models with random rows, after random edits.
@Suite("Random migrations")
struct RandomMigrationTests {
    @Test(
        "A random migration keeps the data that fits the new model, and is rejected if some does not",
        arguments: RandomTest.migration.range)
    func migratesRandomModels(seed: Int) throws {
        var random = RandomSource(seed: UInt64(seed))
        var draft = DraftModel(&random)
        let store = try MigratingStore()
        var stack = try DataStack(model: draft.model(), at: store.url)
        try DraftContents.fill(draft, stack, &random)
        for round in 1...4 {
            let before = try DraftContents(draft, stack)
            try stack.close()
            let earlier = draft
            draft.settle()
            for _ in 0..<Int.random(in: 1...2, using: &random) { draft.edit(&random) }
            stack = try open(
                draft, at: store.url, expecting: Expectation(before, earlier, draft), "seed \(seed), round \(round)")
        }
        try stack.close()
    }

    private func open(
        _ draft: DraftModel, at url: URL, expecting expected: Expectation, _ place: String
    ) throws -> DataStack {
        let model = try draft.model()
        if expected.losesData {
            let before = try Data(contentsOf: url)
            let error = #expect(throws: SyncError.self, "\(place): something would be lost") {
                try DataStack(model: model, at: url).close()
            }
            #expect(error?.code == .modelMismatch, "\(place): \(String(describing: error))")
            #expect(try Data(contentsOf: url) == before, "\(place)")
        }
        let stack = try DataStack(
            model: model, at: url, migration: expected.losesData ? .allowingDataLoss : .keepingData)
        let fresh = try DataStack.inMemory(model).read(MigratingStore.schema)
        #expect(try stack.read(MigratingStore.schema) == fresh, "\(place)")
        #expect(try stack.read { db in try Row.fetchAll(db, sql: "PRAGMA foreign_key_check") }.isEmpty, "\(place)")
        let found = try DraftContents(draft, stack)
        #expect(found.rows == expected.rows, "\(place)")
        for (pair, links) in expected.links {
            let stored = found.links[pair] ?? []
            if expected.narrowed.contains(pair) {
                #expect(Set(stored).isSubset(of: links) && stored.isEmpty == links.isEmpty, "\(place), pair \(pair)")
            } else if expected.ordered.contains(pair) {
                #expect(Self.lists(stored) == Self.lists(links), "\(place), pair \(pair)")
            } else {
                #expect(Set(stored) == Set(links), "\(place), pair \(pair)")
            }
        }
        return stack
    }

    /// Returns the list of each first row.
    private static func lists(_ links: [DraftContents.LinkContents]) -> [Int64: [Int64]] {
        Dictionary(grouping: links, by: \.first).mapValues { $0.map(\.second) }
    }
}

/// The expected contents of a migrated store, derived from the edits of the model.
private struct Expectation {
    var rows: [Int64: DraftContents.RowContents] = [:]
    var links: [Int: [DraftContents.LinkContents]] = [:]
    /// The pairs that lose links.
    var narrowed: Set<Int> = []
    /// The pairs whose first side is ordered before and after.
    var ordered: Set<Int> = []
    var losesData = false

    init(_ contents: DraftContents, _ before: DraftModel, _ after: DraftModel) {
        for (mark, row) in contents.rows { addRow(row, mark, before, after) }
        for pair in before.pairs { addLinks(contents.links[pair.id] ?? [], of: pair, after) }
        for pair in after.pairs where links[pair.id] == nil { links[pair.id] = [] }
    }

    private mutating func addRow(
        _ row: DraftContents.RowContents, _ mark: Int64, _ before: DraftModel, _ after: DraftModel
    ) {
        guard after.entity(row.entity) != nil else {
            losesData = true
            return
        }
        var moved = DraftContents.RowContents(entity: row.entity)
        let old = before.lineage(row.entity).flatMap(\.attributes)
        let new = after.lineage(row.entity).flatMap(\.attributes)
        for attribute in old {
            guard let value = row.values[attribute.id] else { continue }
            if let successor = new.first(where: { $0.id == attribute.id }) {
                moved.values[attribute.id] = Self.converted(value, attribute.type, successor.type)
            } else {
                losesData = true
            }
        }
        for attribute in new where attribute.isRequired && moved.values[attribute.id] == nil {
            moved.values[attribute.id] = 7.databaseValue
        }
        rows[mark] = moved
    }

    private mutating func addLinks(
        _ contents: [DraftContents.LinkContents], of pair: DraftModel.Pair, _ after: DraftModel
    ) {
        let alive = contents.filter { rows[$0.first] != nil && rows[$0.second] != nil }
        guard let successor = after.pairs.first(where: { $0.id == pair.id }) else {
            if !alive.isEmpty { losesData = true }
            return
        }
        let fitting = alive.filter { link in
            isKind(link.first, successor.first.entity, after) && isKind(link.second, successor.second.entity, after)
        }
        links[pair.id] = fitting
        let isCrowded =
            !successor.first.isToMany && Set(fitting.map(\.first)).count < fitting.count
            || successor.hasInverse && !successor.second.isToMany && Set(fitting.map(\.second)).count < fitting.count
        if isCrowded { narrowed.insert(pair.id) }
        if isCrowded || fitting.count < alive.count { losesData = true }
        if pair.first.isOrdered, successor.first.isOrdered { ordered.insert(pair.id) }
    }

    private func isKind(_ mark: Int64, _ entity: Int, _ draft: DraftModel) -> Bool {
        rows[mark].map { draft.lineage($0.entity).contains { $0.id == entity } } ?? false
    }

    private static func converted(_ value: DatabaseValue, _ old: AttributeType, _ new: AttributeType) -> DatabaseValue {
        switch (old, new, value.storage) {
        case (.integer, .double, .int64(let number)): Double(number).databaseValue
        case (.integer, .json, .int64(let number)), (_, .string, .int64(let number)), (_, .decimal, .int64(let number)):
            "\(number)".databaseValue
        case (.double, .string, .double(let number)): "\(number)".databaseValue
        case (.string, .json, .string(let text)): "\"\(text)\"".databaseValue
        case (.date, .string, .string(let text)):
            text.replacing(" ", with: "T").replacing(".000", with: "Z").databaseValue
        default: value
        }
    }
}
