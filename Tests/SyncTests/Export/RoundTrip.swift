import Foundation
import Sync
import Testing

/// What is exported, synced back.
enum RoundTrip {
    /// Exports every entity with the default options and syncs it to the store it came from, which must find nothing
    /// to do.
    static func expectNoChange(_ stack: DataStack, _ comment: Comment) async throws {
        for entity in stack.model.entities where try stack.model.primaryKey(of: entity.name) != nil {
            let records = try await stack.export(entity.name)
            guard !records.isEmpty, !entity.isAbstract else { continue }
            let contents = try await stack.contents()
            let written = try await stack.changesWritten()
            let result = try await Sync.changes(.array(records), inEntity: entity.name, stack: stack)
            #expect(result.isEmpty, "\(comment): \(entity.name)")
            #expect(result.diagnostics == [], "\(comment): \(entity.name)")
            #expect(try await stack.changesWritten() == written, "\(comment): \(entity.name)")
            let differences = try await stack.contents().differences(from: contents)
            try #require(differences == [], "\(comment): \(entity.name)")
        }
    }
}
