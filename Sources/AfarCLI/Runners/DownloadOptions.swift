import ArgumentParser

/// The options of a command that puts a response into a file.
struct DownloadOptions: ParsableArguments, RequestSending {
    @OptionGroup var address: AddressArgument
    @OptionGroup(title: "File") var file: FileOptions
    @OptionGroup(title: "Progress") var progress: ProgressOptions
    @OptionGroup(title: "Request") var sending: SendingOptions
    @OptionGroup(title: "HTTP archives") var archive: ArchiveOptions
    @OptionGroup(title: "Network") var network: NetworkOptions
    @OptionGroup(title: "Trust and identity") var security: SecurityOptions
    @OptionGroup(title: "Looking inside") var inspection: InspectionOptions
    @OptionGroup var colors: ColorOptions

    func validate() throws { try checkSending() }
}
