import CoalescerDaemon

@main
struct Main {
    static func main() async {
        await CoalescerService.main()
    }
}
