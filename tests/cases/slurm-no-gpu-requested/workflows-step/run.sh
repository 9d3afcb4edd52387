toil-run --batchSystem slurm flow.cwl
