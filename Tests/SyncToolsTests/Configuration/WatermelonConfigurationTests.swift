import Foundation
import Sync
import Testing

@testable import SyncService
@testable import SyncTools

@Suite("Configuration of a changes endpoint")
struct WatermelonConfigurationTests {
    private static let whole = """
        { "service": "changes", "url": "https://api.example.com/sync",
          "entities": { "Project": { "path": "plans" }, "Task": {} }, "changes": { "schemaVersion": 3 } }
        """

    @Test("A configuration of a changes endpoint gives its service")
    func readsConfiguration() throws {
        let configuration = try ServiceConfigurationFile(Data(Self.whole.utf8), environment: [:])
        let service = try #require(configuration.service() as? WatermelonService)
        #expect(service.filter(of: "Project") == "plans" && service.filter(of: "Task") == "tasks")
        #expect(service.identity == "https://api.example.com/sync")
        #expect(service.schemaVersion == 3)
        #expect(service.capabilities.generatedIDLength == 16)
    }

    @Test(
        "An invalid configuration of a changes endpoint is rejected with its path",
        arguments: [
            ("\"schemaVersion\": 3", "\"schemaversion\": 3", "changes.schemaversion"),
            ("\"schemaVersion\": 3", "\"schemaVersion\": 0", "changes.schemaVersion"),
            ("\"service\": \"changes\"", "\"service\": \"rest\"", "changes"),
        ])
    func rejectsInvalidConfiguration(_ right: String, _ wrong: String, _ path: String) throws {
        let text = Self.whole.replacingOccurrences(of: right, with: wrong)
        let error = #expect(throws: SyncError.self) { try ServiceConfigurationFile(Data(text.utf8), environment: [:]) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.path == path)
    }
}
