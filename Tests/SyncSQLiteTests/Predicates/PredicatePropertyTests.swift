import Foundation
import GRDB
import SyncStore
import SyncTesting
import TestSize
import Testing

@testable import SyncCore
@testable import SyncSQLite

@Suite("Conditions in SQL and in memory")
struct PredicatePropertyTests {
    @Test("A random condition has the same result in SQL and in memory", arguments: RandomTest.predicate.range)
    func randomConditionsHaveSameResult(seed: Int) throws {
        let seed = UInt64(seed)
        let store = try RandomPredicateStore(seed: seed)
        var generator = PredicateGenerator(store.model.compiled, seed: seed &+ 1000)
        var held = 0
        for number in 0..<200 {
            let entity = try store.model.compiled.entity(
                named: generator.random.pick(["Thing", "Thing", "Tag", "Dog"]))
            let predicate = generator.predicate(on: entity)
            let note: Comment = "seed \(seed), condition \(number) on \(entity.name): \(predicate)"
            guard let inMemory = try? store.inMemory(predicate, entity) else {
                #expect(throws: SyncError.self, note) { try store.inSQL(predicate, entity) }
                continue
            }
            #expect(try store.inSQL(predicate, entity) == inMemory, note)
            #expect(try store.inSQL(!predicate, entity) == inMemory.map { !$0 }, note)
            #expect(try store.inMemory(!predicate, entity) == inMemory.map { !$0 }, note)
            #expect(try RowPredicate(parsing: predicate.description) == predicate, note)
            if inMemory.contains(true), inMemory.contains(false) { held += 1 }
        }
        #expect(held > 60, "too few conditions of seed \(seed) tell rows apart: \(held)")
    }
}

/// Random rows of every type and association, in a store and in memory.
private struct RandomPredicateStore {
    let model: SyncModel
    private let stack: DataStack
    private let graph: MemoryGraph

    init(seed: UInt64) throws {
        model = try Self.model()
        stack = try DataStack.inMemory(model)
        var random = SeededGenerator(seed: seed)
        for entity in ["Box", "Tag", "Dog", "Cat", "Passport", "Thing"] {
            for number in 0..<(entity == "Thing" ? 10 : 4) { try Self.insert(entity, number, stack, &random) }
        }
        graph = try MemoryGraph(stack)
    }

    func inMemory(_ predicate: RowPredicate, _ entity: CompiledEntity) throws -> [Bool] {
        let condition = try predicate.resolved(on: entity, in: model.compiled)
        return try graph.rows(of: entity).map { try condition.holds(for: $0) }
    }

    func inSQL(_ predicate: RowPredicate, _ entity: CompiledEntity) throws -> [Bool] {
        let condition = try PredicateSQL(predicate, on: entity, layout: stack.layout, alias: "row")
        let family = PredicateSQL.familyCondition(entity, layout: stack.layout, alias: "row") ?? "1"
        let table = stack.layout[entity.table]
        let sql = """
            SELECT \(condition.sql) FROM "\(table.name)" AS "row" WHERE \(family) ORDER BY "\(table.keyColumn)"
            """
        return try stack.read { db in
            try Bool.fetchAll(db, sql: sql, arguments: StatementArguments(condition.databaseValues))
        }
    }

    private static func insert(
        _ name: String, _ number: Int, _ stack: DataStack, _ random: inout SeededGenerator
    ) throws {
        let entity = try stack.model.compiled.entity(named: name)
        var values: [String: StoredValue] = [:]
        for slot in entity.slots {
            let attribute = stack.model.compiled[entity.table].attributes[slot]
            if slot == entity.keySlot {
                guard number % 4 != 3 else { continue }
                values[attribute.name] =
                    attribute.type == .integer ? .integer(Int64(number) * 2 - 3) : .string("k\(number)")
            } else if random.chance(3, of: 4) {
                values[attribute.name] = random.pick(PredicateValues.stored[attribute.type] ?? [.null])
            }
        }
        var links: [String: [SyncRow]] = [:]
        for hop in entity.relationships where random.chance(2, of: 3) {
            let known = try stack.fetch(stack.model.compiled.entities[hop.destination].name)
            guard !known.isEmpty else { continue }
            let count = hop.isToMany ? Int.random(in: 0...3, using: &random) : 1
            links[hop.name] = Array(known.shuffled(using: &random).prefix(count))
        }
        try stack.insert(name, storedValues: values, relationships: links)
    }

    private static func model() throws -> SyncModel {
        let types = AttributeType.allCases.map { SyncModel.Attribute("\($0.rawValue)Value", $0) }
        let name = SyncModel.Attribute("name", .string)
        return try SyncModel(entities: [
            SyncModel.Entity(
                "Thing", attributes: [SyncModel.Attribute("id", .integer)] + types,
                relationships: [
                    SyncModel.Relationship("parent", to: "Thing", inverse: "children"),
                    SyncModel.Relationship("children", to: "Thing", many: true, ordered: true, inverse: "parent"),
                    SyncModel.Relationship("friends", to: "Thing", many: true, inverse: "friends"),
                    SyncModel.Relationship("tags", to: "Tag", many: true, inverse: "things"),
                    SyncModel.Relationship("box", to: "Box"),
                    SyncModel.Relationship("passport", to: "Passport", inverse: "owner"),
                    SyncModel.Relationship("pets", to: "Animal", many: true, inverse: "owner"),
                    SyncModel.Relationship("dog", to: "Dog"),
                ]),
            SyncModel.Entity(
                "Tag",
                attributes: [
                    SyncModel.Attribute("code", .string, isPrimaryKey: true), name,
                    SyncModel.Attribute("rank", .decimal),
                ],
                relationships: [
                    SyncModel.Relationship("things", to: "Thing", many: true, inverse: "tags"),
                    SyncModel.Relationship("box", to: "Box"),
                ]),
            SyncModel.Entity(
                "Box", attributes: [name, SyncModel.Attribute("at", .date)],
                relationships: [SyncModel.Relationship("tag", to: "Tag")]),
            SyncModel.Entity(
                "Passport", attributes: [SyncModel.Attribute("number", .string, isPrimaryKey: true)],
                relationships: [SyncModel.Relationship("owner", to: "Thing", inverse: "passport")]),
            SyncModel.Entity(
                "Animal", isAbstract: true, attributes: [name],
                relationships: [SyncModel.Relationship("owner", to: "Thing", inverse: "pets")]),
            SyncModel.Entity(
                "Dog", parent: "Animal", attributes: [SyncModel.Attribute("tag", .integer, isPrimaryKey: true)]),
            SyncModel.Entity(
                "Cat", parent: "Animal", attributes: [SyncModel.Attribute("chip", .string, isPrimaryKey: true)]),
        ])
    }
}

/// All rows of a store and the rows that they are linked to, read without a condition.
private final class MemoryGraph {
    struct Row: PredicateRow {
        let record: SyncRow
        let graph: MemoryGraph

        func predicateValue(of attribute: String) throws -> StoredValue { try #require(record[attribute]) }

        func temporaryKey(of attribute: String) -> StoredValue {
            guard let slot = record.type.keySlot, record.type.slotByName[attribute] == slot else { return .null }
            switch record.key {
            case .integer(let key) where RowKey.integer(key).isLocal: return .integer(key)
            case .text(let key) where RowKey.text(key).isLocal: return .string(key)
            default: return .null
            }
        }

        func predicateTargets(of relationship: String) throws -> [Row] {
            try #require(graph.targets[record]?[relationship]).map { Row(record: $0, graph: graph) }
        }
    }

    private let records: [String: [SyncRow]]
    private let targets: [SyncRow: [String: [SyncRow]]]

    init(_ stack: DataStack) throws {
        var records: [String: [SyncRow]] = [:]
        var targets: [SyncRow: [String: [SyncRow]]] = [:]
        for entity in stack.model.compiled.entities {
            let rows = try stack.fetch(entity.name).sorted { Self.key($0) < Self.key($1) }
            records[entity.name] = rows
            for row in rows {
                for hop in row.type.relationships {
                    targets[row, default: [:]][hop.name] = try stack.fetchRelated(hop.name, of: row)
                }
            }
        }
        self.records = records
        self.targets = targets
    }

    private static func key(_ record: SyncRow) -> PrimaryKeyValue {
        record.rowKey.recordKey(nil)
    }

    func rows(of entity: CompiledEntity) -> [Row] {
        (records[entity.name] ?? []).map { Row(record: $0, graph: self) }
    }
}
