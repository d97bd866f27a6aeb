import Foundation
import GRDB
import SyncStore
import TestSize
import Testing

@testable import SyncCore
@testable import SyncSQLite

@Suite("A condition means the same in SQL and in memory")
struct PredicatePropertyTests {
    @Test("for rows and conditions at random", arguments: RandomTest.predicate.seeds)
    func random(seed: Int) throws {
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
            #expect(try RecordPredicate(parsing: predicate.description) == predicate, note)
            if inMemory.contains(true), inMemory.contains(false) { held += 1 }
        }
        #expect(held > 60, "too few conditions of seed \(seed) tell rows apart: \(held)")
    }
}

/// Rows of every type and kind of link, at random, in a store and in memory.
private struct RandomPredicateStore {
    let model: Model
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

    func inMemory(_ predicate: RecordPredicate, _ entity: CompiledEntity) throws -> [Bool] {
        let condition = try predicate.resolved(on: entity, in: model.compiled)
        return try graph.rows(of: entity).map { try condition.holds(for: $0) }
    }

    func inSQL(_ predicate: RecordPredicate, _ entity: CompiledEntity) throws -> [Bool] {
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
        var links: [String: [SyncSQLite.Record]] = [:]
        for hop in entity.relationships where random.chance(2, of: 3) {
            let known = try stack.fetch(stack.model.compiled.entities[hop.destination].name)
            guard !known.isEmpty else { continue }
            let count = hop.isToMany ? Int.random(in: 0...3, using: &random) : 1
            links[hop.name] = Array(known.shuffled(using: &random).prefix(count))
        }
        try stack.insert(name, storedValues: values, links: links)
    }

    private static func model() throws -> Model {
        let types = AttributeType.allCases.map { Attribute("\($0.rawValue)Value", $0) }
        let name = Attribute("name", .string)
        return try Model(entities: [
            Entity(
                "Thing", attributes: [Attribute("id", .integer)] + types,
                relationships: [
                    Relationship("parent", to: "Thing", inverse: "children"),
                    Relationship("children", to: "Thing", many: true, ordered: true, inverse: "parent"),
                    Relationship("friends", to: "Thing", many: true, inverse: "friends"),
                    Relationship("tags", to: "Tag", many: true, inverse: "things"),
                    Relationship("box", to: "Box"),
                    Relationship("passport", to: "Passport", inverse: "owner"),
                    Relationship("pets", to: "Animal", many: true, inverse: "owner"),
                    Relationship("dog", to: "Dog"),
                ]),
            Entity(
                "Tag", attributes: [Attribute("code", .string, isPrimaryKey: true), name, Attribute("rank", .decimal)],
                relationships: [
                    Relationship("things", to: "Thing", many: true, inverse: "tags"),
                    Relationship("box", to: "Box"),
                ]),
            Entity("Box", attributes: [name, Attribute("at", .date)], relationships: [Relationship("tag", to: "Tag")]),
            Entity(
                "Passport", attributes: [Attribute("number", .string, isPrimaryKey: true)],
                relationships: [Relationship("owner", to: "Thing", inverse: "passport")]),
            Entity(
                "Animal", isAbstract: true, attributes: [name],
                relationships: [Relationship("owner", to: "Thing", inverse: "pets")]),
            Entity("Dog", parent: "Animal", attributes: [Attribute("tag", .integer, isPrimaryKey: true)]),
            Entity("Cat", parent: "Animal", attributes: [Attribute("chip", .string, isPrimaryKey: true)]),
        ])
    }
}

/// Every row of a store and where its relationships lead, read without a condition.
private final class MemoryGraph {
    struct Row: PredicateRow {
        let record: SyncSQLite.Record
        let graph: MemoryGraph

        func predicateValue(of attribute: String) throws -> StoredValue { try #require(record[attribute]) }

        func predicateTargets(of relationship: String) throws -> [Row] {
            try #require(graph.targets[record]?[relationship]).map { Row(record: $0, graph: graph) }
        }
    }

    private let records: [String: [SyncSQLite.Record]]
    private let targets: [SyncSQLite.Record: [String: [SyncSQLite.Record]]]

    init(_ stack: DataStack) throws {
        var records: [String: [SyncSQLite.Record]] = [:]
        var targets: [SyncSQLite.Record: [String: [SyncSQLite.Record]]] = [:]
        for entity in stack.model.compiled.entities {
            let rows = try stack.fetch(entity.name).sorted { Self.key($0) < Self.key($1) }
            records[entity.name] = rows
            for row in rows {
                for hop in row.type.relationships {
                    targets[row, default: [:]][hop.name] = try stack.targets(of: row, hop.name)
                }
            }
        }
        self.records = records
        self.targets = targets
    }

    private static func key(_ record: SyncSQLite.Record) -> RecordKey {
        switch record.rowKey.storage {
        case .int64(let key): .integer(key)
        case .string(let key): .text(key)
        default: .text("")
        }
    }

    func rows(of entity: CompiledEntity) -> [Row] {
        (records[entity.name] ?? []).map { Row(record: $0, graph: self) }
    }
}
