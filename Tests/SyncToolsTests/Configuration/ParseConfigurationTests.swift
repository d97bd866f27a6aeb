import Foundation
import Sync
import Testing

@testable import SyncService
@testable import SyncTools

@Suite("Configuration of Parse")
struct ParseConfigurationTests {
    private static let whole = """
        { "service": "parse", "url": "https://api.example.com/parse",
          "entities": { "Project": { "path": "Plan" }, "Task": {} },
          "credentials": { "command": ["cat", "session"] },
          "parse": { "applicationID": "${APP}", "restKey": "${KEY}", "sessionToken": "s", "pageSize": 50, "overlap": 5,
            "ids": "client", "marker": "syncKey" } }
        """

    @Test("A configuration of Parse gives the options and capabilities of its service")
    func readsConfiguration() throws {
        let configuration = try ServiceConfigurationFile(
            Data(Self.whole.utf8), environment: ["APP": "application", "KEY": "secret"])
        #expect(configuration.credentialHeader == "X-Parse-Session-Token")
        let service = try #require(configuration.service() as? ParseService)
        #expect(service.capabilities.createIdempotency == .clientID)
        #expect(service.filter(of: "Project") == "Plan" && service.filter(of: "Task") == "Task")
        #expect(service.identity == "https://api.example.com/parse application")
        var options = ParseOptions(applicationID: "application", restKey: "secret")
        (options.sessionToken, options.pageSize, options.overlap) = ("s", 50, .seconds(5))
        (options.idAssignment, options.markerField) = (.client, "syncKey")
        #expect(service.options == options)
    }

    @Test(
        "An invalid configuration of Parse is rejected with its path",
        arguments: [
            ("\"applicationID\": \"${APP}\", ", "", "parse.applicationID"),
            ("\"${APP}\"", "\"\"", "parse.applicationID"),
            ("\"parse\": {", "\"kinto\": {}, \"parse\": {", "kinto"),
            ("\"service\": \"parse\"", "\"service\": \"rest\"", "parse"),
            ("\"pageSize\"", "\"pagesize\"", "parse.pagesize"),
            ("\"client\"", "\"clients\"", "parse.ids"),
            ("\"syncKey\"", "\"_sync key\"", "parse.marker"),
            ("\"sessionToken\": \"s\"", "\"sessionToken\": \"s\\nt\"", "parse.sessionToken"),
        ])
    func rejectsInvalidConfiguration(_ right: String, _ wrong: String, _ path: String) throws {
        let text = Self.whole.replacingOccurrences(of: right, with: wrong)
        let error = #expect(throws: SyncError.self) {
            try ServiceConfigurationFile(Data(text.utf8), environment: ["APP": "application", "KEY": "secret"])
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.path == path)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("A configuration of Parse without its section is rejected")
    func rejectsMissingSection() throws {
        let text = #"{"service": "parse", "url": "https://a.example.com", "entities": {"Task": {}}}"#
        let error = #expect(throws: SyncError.self) { try ServiceConfigurationFile(Data(text.utf8), environment: [:]) }
        #expect(error?.path == "parse")
    }
}
