import Foundation
import Sync
import Testing

/// Exports that are synced back.
enum RoundTrip {
    /// Options with which an export still has everything that a sync reads.
    static let options = [
        ExportOptions(), ExportOptions(keyCase: .camel, timeZone: TimeZone(secondsFromGMT: 20_700) ?? .gmt),
        ExportOptions(relationships: .none),
    ]

    /// Exports every entity, syncs the records to the same store, and expects no change. The exported text must have the
    /// same records.
    static func expectNoChange(_ stack: DataStack, _ comment: Comment) async throws {
        let entities = try stack.model.entities.filter { entity in
            try !entity.isAbstract && stack.model.primaryKey(of: entity.name) != nil
        }
        for entity in entities {
            for options in options {
                let records = try await stack.export(entity.name, options: options)
                let text = try stack.exportedText(entity.name, options: options)
                #expect(try JSONValue(parsing: text) == .array(records), "\(comment): \(entity.name)")
                #expect(try await records.count == stack.count(entity.name))
                if !records.isEmpty { try await expectNoChange(records, entity.name, stack, comment) }
            }
        }
    }

    private static func expectNoChange(
        _ records: [JSONValue], _ entity: String, _ stack: DataStack, _ comment: Comment
    ) async throws {
        let contents = try await stack.contents()
        let written = try await stack.changesWritten()
        do {
            let result = try await Sync.changes(.array(records), inEntity: entity, stack: stack)
            #expect(result.isEmpty, "\(comment): \(entity)")
            // A row without a remote ID is exported without a key.
            #expect(result.diagnostics.filter { $0.kind != .missingPrimaryKey } == [], "\(comment): \(entity)")
        } catch let error as SyncError where error.code == .noRecords {
            // If no row has a remote ID, the export has no readable record.
            let key = try #require(try stack.model.primaryKey(of: entity))
            #expect(try await stack.count(entity, where: "\(key.local) != nil") == 0, "\(comment): \(entity)")
        }
        #expect(try await stack.changesWritten() == written, "\(comment): \(entity)")
        let differences = try await stack.contents().differences(from: contents)
        try #require(differences == [], "\(comment): \(entity)")
    }
}
