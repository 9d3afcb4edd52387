# rigup: what is this machine?
#
# This script writes down what `rigup doctor` would read on this machine, for a machine that has no rigup.
# It changes nothing, it sends nothing anywhere, and it needs no administrator.
# What it finds is printed, as text: send that to a file and look at it before you give it to anybody.
#
#     powershell -NoProfile -ExecutionPolicy Bypass -File rigup-collect.ps1 > machine.txt
#
# Then, where rigup is:  rigup doctor --from machine.txt        names what is wrong
#                        rigup capture --from machine.txt      makes an archive with names, addresses and
#                                                              serial numbers taken out
#
# It takes about ten seconds, and ends by itself after @SECONDS@ seconds. Variables are named only where they
# matter for GPUs; passwords, tokens and keys that are known by their form or by their name are blanked.
# Still in it: names of people, machines and networks, paths, addresses, serial numbers, what files set for other
# programs, and any secret that neither form nor name tells. Works from PowerShell 5.1 on.

$ErrorActionPreference = 'SilentlyContinue'
$ProgressPreference = 'SilentlyContinue'
$Until = (Get-Date).AddSeconds(@SECONDS@)
$Most = @LIMIT@
$MostFiles = @FILES@
$Drive = [string]$env:SystemDrive
$Late = $false
try { [Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false } catch { $Late = $false }

# -- what is written: a line with @ is ours, a line with | is what was found --------------------------------
function Say([string]$Line) { '@' + ($Line -replace '[\r\n]', ' ') }

function Clear-Secret([string]$Text) {
    foreach ($Pair in $script:Blankings) { $Text = $Text -creplace $Pair[0], $Pair[1] }
    $Text
}

function Write-Body([string]$Text, [string]$Status) {
    if ($Text.Length -gt $Most) { $Text = $Text.Substring(0, $Most) }
    $Below = $false
    $Key = ''
    $Block = ''
    foreach ($Line in ($Text.Replace([string][char]0, '') + '.').Split([char]10)) {
        $Told = Clear-Secret $Line
        if ($Below) { $Told = $Told -creplace $script:BelowForm[0], $script:BelowForm[1] }
        if ($Block -and ($Line -cmatch $Block)) { $Block = '' }
        if ($Block) { $Told = $Told -creplace $script:BlockForm[0], $script:BlockForm[1] }
        foreach ($Pair in $script:Blocks) { if ($Line -cmatch $Pair[0]) { $Block = $Pair[1] } }
        foreach ($Pair in $script:Keys) { if (-not $Key -and ($Line -cmatch $Pair[0])) { $Key = $Pair[1] } }
        if ($Key) {
            $Told = '@BLANK@'
            if ($Line -cmatch $Key) { $Key = '' }
        }
        $Below = $false
        foreach ($Form in $script:Ends) { if ($Line -cmatch $Form) { $Below = $true } }
        '|' + $Told
    }
    Say "end $Status"
}

function Test-Late {
    if ((Get-Date) -gt $script:Until) { $script:Late = $true }
    $script:Late
}

function Show-Step([string]$Step) {
    if (-not [Console]::IsErrorRedirected) { [Console]::Error.Write("`rrigup: " + $Step.PadRight(60).Substring(0, 60)) }
}

# -- bytes to text: UTF-16 as wsl.exe writes it, UTF-8, or the console's own code page ------------------------
function ConvertTo-Text([byte[]]$Bytes) {
    if (-not $Bytes -or $Bytes.Length -eq 0) { return '' }
    if ($Bytes.Length -gt 1 -and $Bytes[0] -eq 255 -and $Bytes[1] -eq 254) {
        return [System.Text.Encoding]::Unicode.GetString($Bytes, 2, $Bytes.Length - 2)
    }
    $Zeros = 0
    $Seen = [Math]::Min($Bytes.Length, 400)
    for ($At = 1; $At -lt $Seen; $At += 2) { if ($Bytes[$At] -eq 0) { $Zeros++ } }
    if ($Zeros * 4 -gt $Seen) { return [System.Text.Encoding]::Unicode.GetString($Bytes) }
    try { return (New-Object System.Text.UTF8Encoding $false, $true).GetString($Bytes) } catch {
        $Page = [Globalization.CultureInfo]::CurrentCulture.TextInfo.OEMCodePage
        return [System.Text.Encoding]::GetEncoding($Page).GetString($Bytes)
    }
}

# -- files and folders. A path is a base, as it is and as it is shown, and a pattern below it ------------------
function Find-Item([string]$Base, [string]$Pattern) {
    $Path = $Base + $Pattern
    if ($Path -match '[*?\[]') {
        @(Get-Item -Path $Path -Force | Select-Object -First $MostFiles)
    } elseif (Test-Path -LiteralPath $Path) {
        @(Get-Item -LiteralPath $Path -Force)
    }
}

function Get-Shown($Item, [string]$Base, [string]$Shown) {
    $Shown + $Item.FullName.Substring([Math]::Min($Base.Length, $Item.FullName.Length)).Replace('\', '/')
}

function Read-Head([string]$Path, [int]$Count) {
    $Stream = [System.IO.File]::Open($Path, 'Open', 'Read', 'ReadWrite')
    try {
        $Buffer = New-Object byte[] ([Math]::Min([long]$Count, [Math]::Max([long]1, $Stream.Length)))
        $Got = $Stream.Read($Buffer, 0, $Buffer.Length)
        if ($Got -eq 0) { return '' }
        if ($Got -lt $Buffer.Length) { [System.Array]::Resize([ref]$Buffer, $Got) }
        ConvertTo-Text $Buffer
    } finally { $Stream.Dispose() }
}

function Get-File([string]$Base, [string]$Shown, [string]$Pattern, [int]$Count) {
    if (Test-Late) { return }
    $Items = @(Find-Item $Base $Pattern)
    if ($Items.Count -eq 0) { return Say ('absent ' + $Shown + $Pattern) }
    foreach ($Item in $Items) {
        $Name = Get-Shown $Item $Base $Shown
        if ($Item.PSIsContainer) { Say "refused $Name"; continue }
        $Text = $null
        try { $Text = Read-Head $Item.FullName $Count } catch { $Text = $null }
        if ($null -eq $Text) { Say "refused $Name"; continue }
        Say "file $Name"
        Write-Body $Text '0'
    }
}

function Get-List([string]$Base, [string]$Shown, [string]$Pattern) {
    if (Test-Late) { return }
    $Items = @(Find-Item $Base $Pattern)
    if ($Items.Count -eq 0) { return Say ('absent ' + $Shown + $Pattern) }
    foreach ($Item in $Items) {
        $Name = Get-Shown $Item $Base $Shown
        if ($Item.PSIsContainer) { Say "folder $Name" } else { Say "there $Name" }
    }
    Say ('looked ' + $Shown + $Pattern)
}

function Test-There([string[]]$Patterns) {
    foreach ($Pattern in $Patterns) { if (@(Find-Item $Drive $Pattern).Count -gt 0) { return $true } }
    $false
}

# -- programs ----------------------------------------------------------------------------------------------------
function Join-Argument([string[]]$Words) {
    $Quoted = foreach ($Word in $Words) {
        if ($Word -match '[\s"]' -or $Word -eq '') {
            '"' + ($Word -replace '(\\*)"', '$1$1\"' -replace '(\\+)$', '$1$1') + '"'
        } else { $Word }
    }
    $Quoted -join ' '
}

function Start-Asked([string]$Path, [string[]]$Words, [int]$Seconds) {
    $Start = New-Object System.Diagnostics.ProcessStartInfo
    $Start.FileName = $Path
    $Start.Arguments = Join-Argument $Words
    $Start.UseShellExecute = $false
    $Start.CreateNoWindow = $true
    $Start.RedirectStandardInput = $true
    $Start.RedirectStandardOutput = $true
    $Start.RedirectStandardError = $true
    $Process = [System.Diagnostics.Process]::Start($Start)
    $Process.StandardInput.Close()
    $Out = New-Object System.IO.MemoryStream
    $Err = New-Object System.IO.MemoryStream
    $Reads = @($Process.StandardOutput.BaseStream.CopyToAsync($Out), $Process.StandardError.BaseStream.CopyToAsync($Err))
    $Done = $Process.WaitForExit($Seconds * 1000)
    if (-not $Done) { & "$env:SystemRoot\System32\taskkill.exe" /T /F /PID $Process.Id *> $null }
    [void][System.Threading.Tasks.Task]::WaitAll([System.Threading.Tasks.Task[]]$Reads, 2000)
    $Status = 124
    if ($Done) { $Status = $Process.ExitCode }
    @{ Text = (ConvertTo-Text $Out.ToArray()) + (ConvertTo-Text $Err.ToArray()); Status = $Status }
}

function Get-Said([string]$Label, [int]$Seconds, [string[]]$Words) {
    if (Test-Late) { return }
    $Program = @(Get-Command -Name $Words[0] -CommandType Application)[0]
    if (-not $Program) { return Say "missing $Label" }
    Show-Step $Words[0]
    $Rest = @($Words | Select-Object -Skip 1)
    $Answer = $null
    try { $Answer = Start-Asked $Program.Path $Rest $Seconds } catch { $Answer = $null }
    if ($null -eq $Answer) { return Say "missing $Label" }
    Say "run $Label"
    $Body = @(Write-Body $Answer.Text '0')
    $Body | Select-Object -SkipLast 1
    Say ('exit ' + [Math]::Abs([long]$Answer.Status))
    Say 'end 0'
}

# -- whose eyes these are ----------------------------------------------------------------------------------------
function Get-Variables {
    Say 'variables'
    $All = [Environment]::GetEnvironmentVariables()
    foreach ($Name in ($All.Keys | Sort-Object)) {
        if ($Name -notmatch '^[A-Za-z_][A-Za-z0-9_()]*$' ) { continue }
        $Secret = @($script:Secret | Where-Object { $Name -clike $_ }).Count
        $Wanted = @($script:Wanted | Where-Object { $Name -like $_ }).Count
        if ($Wanted -and -not $Secret) {
            Say "variable $Name"
            Write-Body (([string]$All[$Name]).Split([char]10)[0].TrimEnd()) '0'
        }
    }
}

function Get-Homes {
    @($env:USERPROFILE, $HOME, (Get-Location).Path) | Where-Object { $_ -and $_.Length -gt 3 } |
        ForEach-Object { $_.TrimEnd('\', '/') } | Select-Object -Unique -First 10
}

function Get-Environments([string[]]$Homes, [string[]]$Below, [string[]]$Anywhere) {
    $Found = @($env:VIRTUAL_ENV, $env:CONDA_PREFIX)
    foreach ($Base in $Homes) { foreach ($Pattern in $Below) {
        $Found += @(Find-Item $Base $Pattern | ForEach-Object { Get-Shown $_ $Base $Base })
    } }
    foreach ($Pattern in $Anywhere) { $Found += @(Find-Item $Drive $Pattern | ForEach-Object { Get-Shown $_ $Drive '' }) }
    $Found | Where-Object { $_ } |
        ForEach-Object { $_ -replace '/(pyvenv\.cfg|conda-meta|Lib/site-packages|lib(64)?/python3[^/]*/[^/]*-packages)$', '' } |
        Select-Object -Unique -First 200
}

# -- the questions -----------------------------------------------------------------------------------------------
$Secret = @(@SECRET@)
$Wanted = @(@WANTED@)
$Ends = @(@ENDS@)
$BelowForm = @(@BELOWFORM@)
$BlockForm = @(@BLOCKFORM@)
$Blocks = @(
@BLOCKS@
)
$Keys = @(
@KEYS@
)
$Blankings = @(
@BLANKINGS@
)

''
'@rigup-stream/1 windows'
Get-Variables
$Homes = @(Get-Homes)
$States = @($env:USERPROFILE, $HOME | Where-Object { $_ } | ForEach-Object { $_.TrimEnd('\', '/') + '/AppData/Local/rigup' } | Select-Object -Unique)
$Jupyters = @(@($env:JUPYTER_DATA_DIR) + @("$env:JUPYTER_PATH".Split(';')) | Where-Object { $_ -match '^[A-Za-z]:[\\/]' } | ForEach-Object { $_.TrimEnd('\', '/') } | Select-Object -Unique)
$Environments = @(Get-Environments $Homes @(@BELOW@) @(@ANYWHERE@))
@QUESTIONS@
if (-not [Console]::IsErrorRedirected) { [Console]::Error.Write("`r" + ' ' * 70 + "`r") }
if ($Late) { Say 'done 137' } else { Say 'done 0' }
