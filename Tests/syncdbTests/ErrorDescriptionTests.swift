import Foundation
import Testing

@testable import syncdb

@Suite("Descriptions of the program's errors")
struct ErrorDescriptionTests {
    @Test(
        "localizedDescription of the program's errors is readable text",
        arguments: [
            (UsageError("no model"), "no model"),
            (Interruption(signal: SIGINT, outcome: "nothing was written"), "interrupted; nothing was written"),
            (Gzip.Failure.truncated, "the gzip data ends too early; it was not written or sent whole"),
            (Gzip.Failure.corrupt("crc"), "the gzip data is damaged (crc)"),
            (Gzip.Failure.tooLarge, "the gzip data unpacks to more than is allowed"),
        ] as [(any Error, String)])
    func descriptionsAreReadable(error: any Error, text: String) { #expect(error.localizedDescription == text) }
}
