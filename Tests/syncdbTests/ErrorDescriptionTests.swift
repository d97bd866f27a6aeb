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
            (Gzip.Failure.truncated, "the gzip data is truncated"),
            (Gzip.Failure.corrupt("crc"), "the gzip data is corrupt (crc)"),
            (Gzip.Failure.tooLarge, "the gzip data is too large after decompression"),
        ] as [(any Error, String)])
    func descriptionsAreReadable(error: any Error, text: String) { #expect(error.localizedDescription == text) }
}
