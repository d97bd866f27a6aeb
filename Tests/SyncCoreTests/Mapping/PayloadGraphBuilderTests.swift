import Foundation
import Testing

@testable import SyncCore

/// The payload graph that mapping gives, without a store.
@Suite("Building of payload graphs")
struct PayloadGraphBuilderTests {
    private static let schema = """
        { "entities": {
          "User": {
            "attributes": { "id": "integer", "name": "string" },
            "relationships": {
              "company": { "entity": "Company", "inverse": "users" },
              "tags": { "entity": "Tag", "many": true, "inverse": "users" },
              "phones": { "entity": "Phone", "many": true, "inverse": "user" } } },
          "Company": { "attributes": { "id": "integer", "name": "string" },
                       "relationships": { "users": { "entity": "User", "many": true, "inverse": "company" } } },
          "Tag": { "attributes": { "id": "string" },
                   "relationships": { "users": { "entity": "User", "many": true, "inverse": "tags" } } },
          "Phone": { "attributes": { "number": "string" },
                     "relationships": { "user": { "entity": "User", "inverse": "phones" } } } } }
        """

    private func graph(
        _ json: String, _ entity: String = "User", operations: SyncOperations = .all
    ) throws -> PayloadGraph {
        let staging = try PayloadGraphBuilder(
            inEntity: entity, of: SyncModel(schemaData: Self.schema), parent: nil,
            operations: operations,
            options: SyncOptions())
        return try staging.map(Data(json.utf8), options: SyncOptions()).graph
    }

    /// Describes the nodes of an entity by key or owner, and values.
    private func rows(_ entity: String, _ graph: PayloadGraph) throws -> [String] {
        let compiled = try graph.model.entity(named: entity)
        let batch = graph[compiled.table]
        return graph.withTexts { pool in
            batch.nodes.map { node in
                let name = RowKey(node.key, pool).map { "\($0.recordKey(nil))" }
                let owner = node.ownerIndex.map { batch.owners[$0] }
                let values =
                    !node.isGiven
                    ? []
                    : batch.indexes(ofVersion: Int(node.firstVersion)).enumerated().compactMap {
                        (number, index) -> String? in
                        let value = batch.slots[index]
                        if number + batch.firstSlot == compiled.keySlot || value.kind == .absent { return nil }
                        return value.kind == .null ? "null" : RowKey(value, pool).map { "\($0.recordKey(nil))" }
                    }
                let key = name ?? owner.map { "of \($0.node.index) at \($0.position)" } ?? "?"
                return ([key] + values).joined(separator: " ") + (node.isRoot ? " root" : "")
            }
        }
    }

    /// Describes the link assertions and replacements of a relationship, in document order.
    private func links(_ entity: String, _ name: String, _ graph: PayloadGraph) throws -> [String] {
        let relationship = try #require(try graph.model.entity(named: entity).relationship(named: name))
        let batch = graph[relationship.link]
        let said = batch.assertions.map { assertion -> (UInt32, String) in
            let (owner, target) =
                relationship.end == .first ? (assertion.first, assertion.second) : (assertion.second, assertion.first)
            let place = assertion.position < 0 ? "" : " at \(assertion.position)"
            return (assertion.sequence, "\(owner.index)→\(target.index)\(place)\(assertion.isByID ? " by id" : "")")
        }
        let replaced = batch.replacements.map { replacement -> (UInt32, String) in
            let side = replacement.end == relationship.end ? "" : " other side"
            return (replacement.sequence, "\(replacement.node.index) \(replacement.kind)s\(side)")
        }
        return (said + replaced).enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }
            .map(\.element.1)
    }

    @Test("Records with one key are one node with the last values")
    func recordsWithOneKeyAreOneNode() throws {
        let graph = try graph(#"[{"id": 1, "name": "a"}, {"id": 2}, {"id": 1, "name": "b"}, {"id": 3, "name": null}]"#)
        #expect(try rows("User", graph) == ["1 b root", "2 root", "3 null root"])
        #expect(graph.rootRecords == 4 && graph.readableRootRecords == 4)
    }

    @Test("Nested records are nodes linked to the record around them")
    func nestedRecordsAreLinkedNodes() throws {
        let graph = try graph(
            #"[{"id": 1, "company": {"id": 7, "name": "x"}}, {"id": 2, "company_id": 7}, {"id": 3, "company": null}]"#)
        #expect(try rows("Company", graph) == ["7 x"])
        #expect(try links("User", "company", graph) == ["0→0", "1→0 by id", "2 unlinks"])
    }

    @Test("Keyless nodes are identified by their owner and index")
    func keylessNodesAreIdentifiedByOwner() throws {
        let graph = try graph(#"[{"id": 1, "phones": [{"number": "p"}, {"number": "q", "user_id": 9}]}]"#)
        #expect(try rows("Phone", graph) == ["of 0 at 0 p", "of 0 at 1 q"])
        #expect(try links("User", "phones", graph) == ["0→0 at 0", "0→1 at 1", "0 deletes"])
        #expect(graph.ownedRows.count == 2)
    }

    @Test("A list of IDs asserts its links and unlinks all others")
    func idListsReplaceOtherLinks() throws {
        let graph = try graph(#"[{"id": 1, "tags_ids": ["b", null, "a"]}]"#)
        #expect(try rows("Tag", graph) == ["b", "a"])
        #expect(try links("User", "tags", graph) == ["0→0 at 0 by id", "0→1 at 1 by id", "0 unlinks"])
    }

    @Test("Occurrences are tracked only if operations are restricted")
    func occurrencesAreTrackedIfRestricted() throws {
        let json = #"[{"id": 1, "company": {"id": 7}}]"#
        #expect(try graph(json).occurrences.isEmpty)
        let restricted = try graph(json, operations: [.insert])
        #expect(restricted.occurrences.map(\.parent) == [-1, 0])
        #expect(restricted.occurrences.map(\.permission) == [.insert, .full])
    }

    @Test("Records without a key and unmapped keys are reported")
    func reportsSkippedRecordsAndKeys() throws {
        let graph = try graph(#"[{"id": 1, "name": 5, "colour": "red"}, {"name": "no key"}, {"id": true}]"#)
        #expect(graph.diagnostics.map(\.kind).contains(.missingPrimaryKey))
        #expect(graph.unmappedKeys.map(\.path) == ["colour"])
        #expect(graph.rootRecords == 3)
    }
}
