import CLibFuzzer
import Foundation

/// Runs a fuzz target under libFuzzer, which takes the program's arguments.
public func fuzz(_ target: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt) -> Never {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(LLVMFuzzerRunDriver(&count, &arguments, target))
}

/// What a failure is about, where that is not what the fuzzer made. Unsafe: only the thread that fuzzes touches it.
nonisolated(unsafe) var payloadBeingChecked: [UInt8]?

/// Says what is wrong and ends the process, by which libFuzzer knows that the input is to be kept.
public func fail(_ message: String) -> Never {
    let payload = payloadBeingChecked.map { "\nThe payload: " + String(decoding: $0, as: UTF8.self) } ?? ""
    FileHandle.standardError.write(Data("\nNot as it should be: \(message)\(payload)\n".utf8))
    abort()
}

/// Fails unless the condition holds.
public func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fail(message()) }
}
